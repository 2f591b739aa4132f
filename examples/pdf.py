#!/usr/bin/python3
"""Example: prints the text of a PDF in reading order, from the boxes that pymupdf, pdfminer or docling finds
on its pages.

usage: pdf.py pymupdf|pdfminer FILE.pdf
       pdf.py docling FILE.json          what docling's export_to_dict() gives
"""
import json
import sys

import ordernet


def pymupdf(path):
    """Each page as a list of (x0, y0, x1, y1), type and text, and its size."""
    try:
        import pymupdf as fitz
    except ImportError:
        import fitz  # before version 1.24
    for page in fitz.open(path):
        blocks = page.get_text("blocks")
        yield [(b[:4], "picture" if b[6] else "text", b[4]) for b in blocks], (page.rect.width, page.rect.height)


def pdfminer(path):
    from pdfminer.high_level import extract_pages

    for page in extract_pages(path):
        texts = [p for p in page if hasattr(p, "get_text")]
        # y grows upwards in a PDF
        yield [((p.x0, page.height - p.y1, p.x1, page.height - p.y0), "text", p.get_text()) for p in texts], (page.width, page.height)


def docling(path):
    with open(path) as file:
        document = json.load(file)
    for number, page in document["pages"].items():
        width, height = page["size"]["width"], page["size"]["height"]
        found = []
        for item in document["texts"]:
            place = item["prov"][:1]  # a text that goes on on the next page has two
            if place and place[0]["page_no"] == int(number):
                b = place[0]["bbox"]
                up = b.get("coord_origin") == "BOTTOMLEFT"
                top, bottom = (height - b["t"], height - b["b"]) if up else (b["t"], b["b"])
                found.append(((b["l"], top, b["r"], bottom), item["label"], item["text"]))
        yield found, (width, height)


if __name__ == "__main__":
    tools = {f.__name__: f for f in (pymupdf, pdfminer, docling)}
    if len(sys.argv) != 3 or sys.argv[1] not in tools:
        sys.exit(__doc__)
    for regions, size in tools[sys.argv[1]](sys.argv[2]):
        for i in ordernet.reading_order([r[0] for r in regions], [r[1] for r in regions], size):
            print(regions[i][2].strip())
