"""Measures training steps over links of a given rate, next to what the model predicts.

    Scripts/compare links NETWORK [OPTION...]

Each rank runs in its own network namespace on this machine, with its own host name. A
bridge joins them; `tc` with `tbf` shapes both directions of each link. For each rate and number of
ranks, `mpirun retint benchmark --mode training` runs once, with --batch images for all ranks
together. Without a rate ("here"), ranks exchange messages through shared memory.

All ranks share the processors of this machine. How fast they compute, and what computing loses
while messages are sent, is therefore measured with as many ranks as the step that is predicted;
latency and bandwidth are measured with two, and serve for four as well. The step of one rank is
predicted from two.

Needs root, ip, tc, unshare and mpirun (Scripts/setup --mpi). Prints a table in Markdown; writes the
reports of each case and rate to --json FOLDER.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

import retint_options
import retint_tables
import retint_tool

PREFIX = "retint"
BRIDGE = f"{PREFIX}-links"
NETWORK = "10.213.77"
HERE = "here"
COLUMNS = ("link", "ranks", "step (s)", "predicted", "difference", "waited (s)", "predicted",
           "without overlap")


def run(*command, **options):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def names(count):
    return [f"{PREFIX}{index}" for index in range(count)]


def shape(rate, device, *inside):
    # A burst of less than the packets that the system hands over at once would be cut up.
    burst = max(int(rate * 1e9 / 8 * 0.0005), 256 << 10)
    run(*inside, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{rate:g}gbit",
        "burst", burst, "limit", 2 << 20)


def add_namespace(index, name, rate):
    device = f"{name}-eth"
    inside = ["ip", "netns", "exec", name]
    run("ip", "netns", "add", name)
    run("ip", "link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", name)
    run("ip", "link", "set", device, "master", BRIDGE, "up")
    run(*inside, "ip", "addr", "add", f"{NETWORK}.{index + 1}/24", "dev", "eth0")
    run(*inside, "ip", "link", "set", "eth0", "up")
    run(*inside, "ip", "link", "set", "lo", "up")
    shape(rate, "eth0", *inside)
    shape(rate, device)


@contextlib.contextmanager
def namespaces(count, rate):
    """Namespaces whose links have a rate in Gb/s, and mpirun's options to start ranks in them."""
    remove()
    try:
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{NETWORK}.254/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for index, name in enumerate(names(count)):
            add_namespace(index, name, rate)
        with tempfile.TemporaryDirectory() as directory:
            yield launch_options(count, pathlib.Path(directory))
    finally:
        remove()


def remove():
    for name in names(16):
        subprocess.run(["ip", "netns", "del", name], capture_output=True)
        subprocess.run(["ip", "link", "del", f"{name}-eth"], capture_output=True)
    subprocess.run(["ip", "link", "del", BRIDGE], capture_output=True)


def launch_options(count, directory):
    """mpirun starts its daemons by a script in place of ssh; messages go over the link alone."""
    agent = directory / "agent"
    # The names are addresses, which mpirun would not look up in /etc/hosts.
    agent.write_text(
        '#!/bin/sh\n'
        f'number=${{1##*.}}; name={PREFIX}$((number - 1)); shift\n'
        'exec ip netns exec "$name" unshare --uts sh -c "hostname $name; $*"\n')
    agent.chmod(0o755)
    hosts = ",".join(f"{NETWORK}.{index + 1}:1" for index in range(count))
    return ["--host", hosts, "--mca", "plm_rsh_agent", agent, "--mca", "plm", "rsh",
            "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
            "--mca", "btl_tcp_if_include", f"{NETWORK}.0/24",
            "--mca", "oob_tcp_if_include", f"{NETWORK}.0/24"]


def benchmark(options, ranks, launch):
    command = [options.retint, "benchmark", options.network, "--mode", "training", "--json",
               "--batch", options.batch, "--size", options.size, "--threads", 1]
    if options.runs:
        command += ["--runs", options.runs]
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    passed = ["-x", "RETINT_MPI_LIBRARY"] if "RETINT_MPI_LIBRARY" in os.environ else []
    if ranks > 1:
        command = ["mpirun", "-n", ranks, "--bind-to", "none", "--oversubscribe", *passed,
                   *launch, *command]
    return json.loads(run(*command, env=environment))


def measure(options, rate, ranks):
    if rate == HERE or ranks == 1:
        return benchmark(options, ranks, [])
    with namespaces(ranks, float(rate)) as launch:
        return benchmark(options, ranks, launch)


def predicted(options, report, link):
    """The step that the model predicts, with latency and bandwidth of another report."""
    merged = json.loads(json.dumps(report))
    for key in ("latency_seconds", "bytes_per_second"):
        merged["ranks"]["link"][key] = link["ranks"]["link"][key]
    return predict(options, merged, report["ranks"]["ranks"])


def predict(options, report, ranks):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(report, file)
        file.flush()
        result = retint_tool.report(
            "benchmark", file.name, "--predict-ranks", ranks, "--predict-batch", options.batch,
            tool=options.retint)
    return result["predictions"][0]


def cells(name, ranks, step, model, waited=("", "", "")):
    predicted, difference = model["step_seconds"], 100 * (model["step_seconds"] / step - 1)
    return name, ranks, f"{step:.3f}", f"{predicted:.3f}", f"{difference:+.1f} %", *waited


def rows(options, reports):
    for (rate, ranks), report in reports.items():
        name = rate if rate == HERE else f"{rate} Gb/s"
        if ranks == 1:
            if (rate, 2) in reports:
                model = predict(options, reports[rate, 2], 1)
                yield cells("none", 1, report["median_seconds"], model)
            continue
        own = report["ranks"]
        model = predicted(options, report, reports[rate, 2])
        waited = (own["step"], model, own["step_without_overlap"])
        yield cells(name, ranks, own["step"]["seconds"], model,
                    [f"{part['waited_seconds']:.3f}" for part in waited])


def parse():
    parser = retint_options.parser(__doc__)
    parser.add_argument("network", help="an architecture or a checkpoint")
    parser.add_argument("--retint", default=retint_tool.RETINT)
    parser.add_argument("--rates", nargs="+", default=[HERE, "1", "10"], metavar="GBIT",
                        help='Gb/s, or "here"')
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--batch", type=int, default=16, help="images of all ranks together")
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--json", metavar="FOLDER", help="write each report to this folder")
    return parser.parse_args()


def main():
    options = parse()
    options.retint = pathlib.Path(options.retint).resolve()
    reports = {}
    for rate in options.rates:
        for ranks in options.ranks:
            if ranks == 1 and rate != options.rates[0]:
                continue
            report = reports[rate, ranks] = measure(options, rate, ranks)
            if options.json:
                folder = pathlib.Path(options.json)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{rate}-{ranks}.json").write_text(json.dumps(report, indent=1))
    print(f"{options.network}, {options.batch} images of {options.size}², ranks of one "
          f"thread, {retint_tool.cpu()}, {os.cpu_count()} processors")
    print(retint_tables.markdown(COLUMNS, rows(options, reports), left=1))
