import Retint

/// The rows of a performance report, for the terminal and for a page.
struct PerformanceTables {
    let report: PerformanceReport

    /// The header of the tables of measurements.
    func figureHeader(_ title: String) -> [String] {
        [title] + report.shortNames + (report.against == nil ? [] : ["ratio"])
    }

    /// A row for each measurement that at least one model has.
    func rows(_ figures: [PerformanceReport.Figure]) -> [[String]] {
        figures.map { $0.cells(report) }
    }

    static let rateHeader = [
        "frames per second", "deadline", "in time", "dropped", "colored per s", "latency, median",
        "latency, p99",
    ]

    /// A row for the requested rate and for each common one, the slowest first.
    static func rateRows(_ model: PerformanceReport.ModelPerformance) -> [[String]] {
        let common = model.rates.filter { $0.fps != model.live.fps }
        return (common + [model.live]).sorted { $0.fps < $1.fps }.map { live in
            [
                live.fpsText, Format.duration(live.deadlineSeconds),
                Format.percent(live.inTimeShare),
                "\(Format.grouped(live.dropped)) of \(Format.grouped(live.frames))",
                Format.fixed(live.coloredPerSecond, 1),
                Format.duration(live.latency.medianSeconds),
                Format.duration(live.latency.p99Seconds),
            ]
        }
    }
}

extension PerformanceReport {
    /// The report as text.
    var lines: [String] {
        [environment(machineText)] + models.map { "\($0.name): \($0.text)" } + headlines + [""]
            + figureTable.lines + [""] + notes + models.flatMap(\.lines)
    }

    /// The measurements of all sections in one table, so that their columns are aligned.
    private var figureTable: TextTable {
        let tables = PerformanceTables(report: self)
        let rows = PerformanceReport.Figure.sections(of: models).flatMap { title, figures in
            [[title]] + tables.rows(figures).map { ["  " + $0[0]] + $0.dropFirst() }
        }
        return TextTable(
            header: tables.figureHeader(""), rows, rightAligned: Set(1...models.count + 1))
    }

    /// How the measurements were made, in sentences.
    var notes: [String] {
        let problems = models.compactMap { model in
            model.startup.coldProblem.map { "\(model.name): cold start not measured: \($0)." }
        }
        let memory = models.map { "Memory of \($0.name): \($0.memoryText)." }
        let turns = against == nil ? "" : ", alternating between the models"
        let ratio = against.map {
            ["The ratio is the value of \($0.name) divided by that of \(model.name)."]
        }
        let video = model.video.map { video in
            [
                "Video: the first \(Format.grouped(video.frames)) frames of \(video.name) "
                    + "(\(video.width) × \(video.height)), "
                    + (video.stableColors ? "with stable colors" : "each colored independently")
                    + ", written to a temporary file. Several frames are colored at the same time; "
                    + "stage shares are fractions of the sum of the stages' times on all threads."
            ]
        }
        return [
            model.isColorizer
                ? "Predictions take lightness and return a and b, one after the other\(turns). "
                    + "Reading, resizing and painting frames are not included."
                : "Predictions take random values, one after the other\(turns).",
            "The live source is \(liveNotice). A frame is in time if its colors are ready at most "
                + "one interval after its arrival, and dropped if a newer one arrives while it "
                + "waits.",
            "The time of each step is its own median. A whole prediction also copies its input "
                + "and output and, on a busy machine, is interrupted.",
            "Starts are medians of \(model.startup.rounds), in a process that has run a model "
                + "before. The weights of a package are read when it is compiled.",
            model.startup.notice,
        ] + (video ?? []) + problems + memory + [
            "The peak is the kernel's (VmHWM), reset before the model was loaded. It includes the "
                + "heap, the stacks, retint and its libraries, but no file in the page cache."
        ] + (ratio ?? [])
    }
}

extension PerformanceReport.ModelPerformance {
    /// Why there are no findings about the Neural Engine.
    var placementProblem: String {
        "not checked, because the checkpoint cannot be exported: \(exportProblem ?? "")"
    }

    /// What is shown for each model separately.
    fileprivate var lines: [String] {
        let rates = TextTable(
            header: PerformanceTables.rateHeader, PerformanceTables.rateRows(self),
            rightAligned: Set(0...6))
        return ["", "\(name): live sources"] + rates.lines + ["", "\(name): \(profileText)"]
            + TextTable(operations: Array(profile.operations.prefix(Self.shownRows))).lines
            + [""] + TextTable(steps: slowestSteps(Self.shownRows)).lines
            + (placement?.lines ?? ["", "Neural Engine: \(placementProblem)"])
    }

    /// The number of operation types, and of steps, in the text; JSON has all.
    private static let shownRows = 10
}
