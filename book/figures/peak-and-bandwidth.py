"""Dense 16-bit peak against memory bandwidth, with lines of equal FLOPs per byte."""

from pathlib import Path

import yaml

DATA = ("accelerators",)

# Which parts to name, under what short name, and where the name stands: offset in points, alignment.
NAMED = {
    "nvidia-v100-sxm": ("V100 (FP16)", 6, -3, "left"),
    "nvidia-a100-sxm-80": ("A100", 6, -3, "left"),
    "nvidia-h100-pcie": ("H100 PCIe", 6, -4, "left"),
    "nvidia-h100-sxm": ("H100", -5, 5, "right"),
    "nvidia-h200-sxm": ("H200", 6, -7, "left"),
    "nvidia-b200-sxm": ("B200, B300", 6, -9, "left"),
    "nvidia-gb200": ("GB200, GB300", 6, 3, "left"),
    "nvidia-rubin": ("Rubin", -6, -3, "right"),
    "nvidia-l40s": ("L40S", -6, -3, "right"),
    "amd-mi250x": ("MI250X", 6, -4, "left"),
    "amd-mi300x": ("MI300X", -4, 6, "right"),
    "amd-mi325x": ("MI325X", 6, -3, "left"),
    "amd-mi355x": ("MI355X", -6, 7, "right"),
    "amd-mi455x": ("MI455X", 6, -3, "left"),
    "intel-gaudi2": ("Gaudi 2", -6, 3, "right"),
    "intel-gaudi3": ("Gaudi 3", -6, 4, "right"),
    "aws-trainium1": ("Trn1", 6, -8, "left"),
    "aws-trainium2": ("Trn2", 6, -6, "left"),
    "aws-trainium3": ("Trn3", 6, -3, "left"),
    "google-tpu-v4": ("TPU v4", -6, 3, "right"),
    "google-tpu-v5e": ("TPU v5e", -6, -3, "right"),
    "google-tpu-v5p": ("TPU v5p", 6, -5, "left"),
    "google-tpu-v6e": ("TPU v6e", -6, 3, "right"),
    "google-tpu-v7x": ("TPU7x", -6, -7, "right"),
}
MARKERS = {"NVIDIA": "o", "AMD": "s", "Intel": "D", "AWS": "^", "Google": "v"}
RIDGES = (75, 150, 300, 600)  # FLOPs per byte
ANGLE = 37.6  # of those lines on the page, degrees


def points(data_dir: Path):
    """(record, bandwidth in TB/s, dense 16-bit peak in TFLOPS) of every named part."""
    records = yaml.safe_load((data_dir / "accelerators.yml").read_text(encoding="utf-8"))["records"]
    for record in records:
        peak = record["dense_peak"].get("bf16_tflops") or record["dense_peak"].get("fp16_tflops")
        bandwidth = record["memory"].get("bandwidth_tb_per_s")
        if record["id"] in NAMED and peak and bandwidth:
            yield record, bandwidth, peak


def draw(data_dir: Path, out_path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 5.6))
    axes.set_xscale("log")
    axes.set_yscale("log")
    left, right, bottom, top = 0.5, 48, 90, 9000
    for ridge in RIDGES:
        # peak = ridge × bandwidth; TB/s × FLOPs/byte = TFLOPS
        axes.plot([left, right], [ridge * left, ridge * right], color="#999999", linewidth=0.8, zorder=1)
        x = min(right, top / ridge) * 0.97
        axes.annotate(f"{ridge} FLOPs per byte", (x, ridge * x), (-3, -4), textcoords="offset points", color="#777777",
                      fontsize=8, rotation=ANGLE, rotation_mode="anchor", ha="right", va="top")  # fmt: skip
    colours = dict(zip(MARKERS, ("#2e8540", "#c4560a", "#3465a4", "#8a6d00", "#7a4fa3"), strict=True))
    shown = set()
    for record, bandwidth, peak in points(data_dir):
        vendor = record["vendor"]
        axes.plot(bandwidth, peak, MARKERS[vendor], color=colours[vendor], markersize=6, zorder=3,
                  markerfacecolor="none" if record["status"] == "announced" else colours[vendor],
                  label=None if vendor in shown else vendor)  # fmt: skip
        shown.add(vendor)
        name, dx, dy, side = NAMED[record["id"]]
        axes.annotate(
            name, (bandwidth, peak), (dx, dy), textcoords="offset points", ha=side, fontsize=8, zorder=4
        )
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    axes.set_yticks([100, 200, 500, 1000, 2000, 5000], ["100", "200", "500", "1,000", "2,000", "5,000"])
    axes.minorticks_off()
    axes.set_xlabel("memory bandwidth, TB/s (printed)")
    axes.set_ylabel("dense BF16 peak, TFLOPS (printed)")
    axes.legend(loc="upper left", fontsize=8, title="filled: available or legacy; hollow: announced", title_fontsize=8,
                alignment="left")  # fmt: skip
    figure.savefig(out_path, metadata={"Date": None, "Creator": None})
