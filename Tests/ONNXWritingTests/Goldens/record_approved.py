"""Records which ONNX files of the test cases ONNX Runtime runs with the expected values.

    swift run -c release RetintONNXCaseWriter DIRECTORY
    PYTHONPATH=Scripts/python python3 Tests/ONNXWritingTests/Goldens/record_approved.py DIRECTORY
"""

import hashlib
import json
import pathlib
import sys

from retint_onnx import cases

folder = pathlib.Path(sys.argv[1])
approved = {}
for case in cases.read(folder):
    fault = cases.fault(folder, case)
    if fault:
        sys.exit(f"{case['name']}, opset {case['opset']}: {fault}")
    digest = hashlib.sha256((folder / case["file"]).read_bytes()).hexdigest()
    approved.setdefault(case["name"], {})[str(case["opset"])] = digest[:16]
path = pathlib.Path(__file__).with_name("approved.json")
path.write_text(json.dumps(approved, indent=1, ensure_ascii=False) + "\n")
