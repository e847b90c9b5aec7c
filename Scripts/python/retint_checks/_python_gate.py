"""The plugin for pytest, and the gate for pull requests."""

import json
import os
import re
import subprocess
import sys

import yaml

from retint_checks._python_case import MODULE, SMALL, Case
from retint_tool import ROOT


class Plugin(Case):
    """The fixture of the plugin for pytest."""

    TEST = """
import pytest, torch
import sys
sys.path.insert(0, {scripts!r})
from retint_checks._python_case import Net

@pytest.mark.retint(max_loss=3)
def test_conversion(verify_package):
    torch.manual_seed(0)
    module, x = Net().eval(), torch.randn(1, 3, 32, 32)
    with torch.no_grad():
        module.head.bias += {shift}
    report = verify_package({path!r}, module, x, max_relative={bound})
    assert report.passed
"""

    def run_pytest(self, path, shift, bound):
        file = self.folder / "test_conversion.py"
        file.write_text(self.TEST.format(
            scripts=str(ROOT / "Scripts/python"), path=path, shift=shift, bound=bound))
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "retint.pytest_plugin",
             f"--retint-results={self.folder / 'results'}", f"--junitxml={self.folder / 'j.xml'}",
             file], capture_output=True, text=True, cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(MODULE)})

    def test_it_compares_with_the_last_green_run(self):
        _, path, _ = self.network()
        result = self.run_pytest(path, 0, 0.1)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn('<property name="y.psnr_db"', (self.folder / "j.xml").read_text())
        result = self.run_pytest(path, 0.01, 0.1)
        self.assertIn("the PSNR fell from", result.stdout)
        result = self.run_pytest(path, 0.01, 0.001)
        self.assertIn("VerificationFailed", result.stdout)
        self.assertIn("y: max |error| / max |expected|", result.stdout)
        self.assertEqual(self.run_pytest(path, 0, 0.1).returncode, 0)


class Gate(Case):
    """The gate for pull requests, by itself and as the steps of the action."""

    def run_gate(self, *arguments, code=0):
        result = subprocess.run(
            [sys.executable, "-m", "retint.gate", *arguments], capture_output=True, text=True,
            cwd=self.folder, env={**os.environ, "PYTHONPATH": str(MODULE)})
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def test_it_reports_and_compares(self):
        self.run_gate("gate.mlpackage", "--export", SMALL, "--against", SMALL, "--output", "first",
                      "--", "--size", "256")
        first = self.folder / "first"
        names = {"report.json", "comment.md", "junit.xml", "results.sarif"}
        self.assertEqual({path.name for path in first.iterdir()}, names)
        self.assertIn("✅ `gate.mlpackage` passed", (first / "comment.md").read_text())
        report = json.loads((first / "report.json").read_text())
        report["outputs"]["ab"]["psnr_db"] += 10
        (first / "report.json").write_text(json.dumps(report))
        result = self.run_gate("gate.mlpackage", "--against", SMALL, "--baseline", "first",
                               "--output", "second", code=2)
        self.assertIn("❌ `gate.mlpackage` failed", result.stdout)
        self.assertIn("since the last release, by more than 3 dB", result.stdout)
        self.assertIn("(was ", result.stdout)
        self.run_gate("gate.mlpackage", "--against", SMALL, "--baseline", "first", "--max-loss",
                      "20", "--output", "third")
        result = self.run_gate(
            "gate.mlpackage", "--against", SMALL, "--", "--max-mean", "0", code=2)
        self.assertIn("\n- ab: ", result.stdout)
        result = self.run_gate("nothing.mlpackage", "--against", SMALL, code=65)
        self.assertIn("nothing.mlpackage", result.stderr)
        self.run_gate("gate.mlpackage", "--against", SMALL, "--", "--nonsense", code=64)

    def test_the_steps_of_the_action(self):
        action = yaml.safe_load((ROOT / "Scripts/gate/action.yml").read_text())
        step = action["runs"]["steps"][-1]
        inputs = {name: value.get("default", "") for name, value in action["inputs"].items()}
        inputs.update({"package": self.package, "against": SMALL, "output": "a gate",
                       "options": "--size 64 --seed 3"})
        pattern = r"\$\{\{ inputs\.([\w-]+) \}\}"
        environment = {name: re.sub(pattern, lambda found: inputs[found[1]], text)
                       for name, text in step["env"].items()}
        binaries = self.folder / "retint/bin"
        binaries.mkdir(parents=True)
        (binaries / "python").symlink_to(sys.executable)
        summary = self.folder / "summary.md"
        result = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=self.folder,
            capture_output=True, text=True, env={
                **os.environ, **environment, "PYTHONPATH": str(MODULE),
                "RUNNER_TEMP": str(self.folder), "GITHUB_STEP_SUMMARY": str(summary)})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("passed", summary.read_text())
        self.assertTrue((self.folder / "a gate/results.sarif").exists())
