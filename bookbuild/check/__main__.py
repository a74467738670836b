"""Print the codes of the checks and what they mean."""

from bookbuild.check import codes

for code, meaning in codes().items():
    print(f"{code:<20} {meaning}")
