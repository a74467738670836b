#!/usr/bin/env python3
"""Greet somebody a number of times.

Only here so that the mini book has a tool to show.
"""

import argparse


def main() -> None:
    parser = argparse.ArgumentParser(description="Greet somebody.")
    parser.add_argument("name", help="whom to greet")
    parser.add_argument("--times", type=int, default=1, metavar="N", help="how often (default: 1)")
    args = parser.parse_args()
    for _ in range(args.times):
        print(f"Hello, {args.name}!")


if __name__ == "__main__":
    main()
