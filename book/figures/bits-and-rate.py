"""How much faster than BF16 each part claims to be in FP8, FP4 and INT8."""

from pathlib import Path

import yaml

DATA = ("accelerators",)

# Newest first within a vendor; parts that print the same ratios as a sibling are left out.
PARTS = (
    "nvidia-a100-sxm-80", "nvidia-h100-sxm", "nvidia-b200-sxm", "nvidia-b300-sxm", "nvidia-rubin",
    "amd-mi300x", "amd-mi355x", "amd-mi455x", "intel-gaudi2", "intel-gaudi3",
    "aws-trainium1", "aws-trainium2", "aws-trainium3",
    "google-tpu-v5e", "google-tpu-v5p", "google-tpu-v6e", "google-tpu-v7x",
)  # fmt: skip
FORMATS = (
    ("fp8_tflops", "FP8", "o", "#3465a4"),
    ("fp4_tflops", "FP4", "^", "#c4560a"),
    ("int8_tops", "INT8", "x", "#2e8540"),
)


def ratios(data_dir: Path) -> dict[str, tuple[str, str, dict[str, float]]]:
    """id → (name, status, {format: rate over the BF16 rate})."""
    records = yaml.safe_load((data_dir / "accelerators.yml").read_text(encoding="utf-8"))["records"]
    found = {}
    for record in records:
        peak = record["dense_peak"]
        if record["id"] in PARTS and peak.get("bf16_tflops"):
            rates = {key: peak[key] / peak["bf16_tflops"] for key, *_ in FORMATS if peak.get(key)}
            found[record["id"]] = (record["name"].split(" (")[0], record["status"], rates)
    return found


def draw(data_dir: Path, out_path: Path) -> None:
    import matplotlib.pyplot as plt

    found = ratios(data_dir)
    figure, axes = plt.subplots(figsize=(7.2, 5.4))
    axes.set_xscale("log", base=2)
    for at, label in ((2, "half the bits,\ntwice the rate"), (4, "a quarter,\nfour times")):
        axes.axvline(at, color="#999999", linewidth=0.8, zorder=1)
        axes.annotate(
            label, (at, -1.0), ha="center", va="bottom", fontsize=8, color="#777777", annotation_clip=False
        )
    for row, part in enumerate(PARTS):
        axes.axhline(row, color="#cccccc", linewidth=0.5, zorder=0)
        for key, label, marker, colour in FORMATS:
            if key in found[part][2]:
                axes.plot(found[part][2][key], row, marker, color=colour, markersize=7, markeredgewidth=1.6, zorder=3,
                          markerfacecolor="none",
                          label=label if part == "nvidia-b200-sxm" else None)  # fmt: skip
    axes.set_yticks(
        range(len(PARTS)), [found[p][0] + (" *" if found[p][1] == "announced" else "") for p in PARTS]
    )
    axes.set_ylim(len(PARTS) - 0.4, -0.7)
    ticks = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
    axes.set_xticks(ticks, ["1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8"])
    axes.minorticks_off()
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("dense peak over dense BF16 peak (derived from printed rates); * announced")
    axes.legend(loc="lower left", fontsize=8)
    figure.savefig(out_path, metadata={"Date": None, "Creator": None})
