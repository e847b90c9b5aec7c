import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// Runs a package on calibration inputs and gathers the distribution of values.
struct ActivationCalibration {
    private(set) var histograms: [String: ValueHistogram] = [:]

    /// - Parameters:
    ///   - names: the values, by their names in the package.
    ///   - runs: the inputs of each run, at least one; L in 0…100 for lightness.
    /// - Throws: `ModelError` if the model does not run on them; `ConversionError` if a value is
    ///   not finite.
    init(_ model: Model, _ names: [String], on runs: [[NamedTensor]]) throws {
        let graph = try model.graph(on: runs[0], folds: false).observing(names)
        let program = try ModelProgram(graph, observes: true)
        var scalars: [Float] = []
        for inputs in runs {
            var run = try program.start(inputs)
            while let values = run.next() {
                for value in values {
                    value.copyScalars(to: &scalars)
                    let name = program.values[value.index].name
                    guard histograms[name, default: .init()].add(scalars) else {
                        throw ConversionError.notFinite(value: name)
                    }
                }
            }
        }
    }
}

/// Quantizes the inputs of a package's operations.
struct ActivationQuantization {
    private let package: MLPackage
    private(set) var sites: ActivationSites
    /// The integers of each site.
    private let grids: [ActivationSite: AffineGrid]
    private let entries: [ActivationSite: QuantizationReport.Activation]

    /// - Parameter runs: the calibration inputs; L in 0…100 for lightness.
    /// - Throws: `ConversionError` without inputs, or if nothing can be quantized; the errors of
    ///   `ActivationCalibration`.
    init(
        _ package: MLPackage, _ plan: SchemeSelection<ActivationScheme>, _ execution: Execution,
        on runs: [[NamedTensor]]
    ) throws {
        self.package = package
        sites = ActivationSites(package, plan)
        guard !runs.isEmpty else {
            throw ConversionError.option(
                "activations", "their ranges come from calibration, but there are no inputs",
                "Calibrate on photos.")
        }
        guard !sites.sites.isEmpty else {
            throw ConversionError(
                place: "activations", rule: "no input of an operation can be quantized",
                remedy: "Name operations with a weight, or whose inputs are all computed.")
        }
        let names = Set(sites.sites.map(\.value)).sorted()
        let calibration = try ActivationCalibration(
            Model(package, execution: execution), names, on: runs)
        var (grids, entries) = (
            [ActivationSite: AffineGrid](), [ActivationSite: QuantizationReport.Activation]()
        )
        for site in sites.sites {
            guard let histogram = calibration.histograms[site.value],
                let type = sites.type(of: site)
            else { continue }
            let range = histogram.isTooLarge ? 0...0 : histogram.range(site.scheme)
            let grid = AffineGrid(site.scheme, range, precision: type.dataType)
            let entry = QuantizationReport.Activation(site, histogram, grid)
            let isPossible = !histogram.isTooLarge && grid.scales[0].isFinite
            if isPossible { grids[site] = grid }
            entries[site] = isPossible ? entry : entry.keptAsFloat
        }
        (self.grids, self.entries) = (grids, entries)
    }

    /// The sites that can be quantized.
    var possible: [ActivationSite] { sites.sites.filter { grids[$0] != nil } }

    /// The package with all sites quantized but for some.
    func quantized(except kept: Set<ActivationSite> = []) -> MLPackage {
        quantizedValues(except: kept).package
    }

    /// The package with all sites quantized but for some, and the names of the restored values.
    func quantizedValues(
        except kept: Set<ActivationSite> = []
    ) -> (package: MLPackage, restored: [ActivationSite: String]) {
        let chosen = grids.filter { sites.sites.contains($0.key) && !kept.contains($0.key) }
        var (result, restored) = package.quantizing(sites, chosen)
        let schemes = Set(chosen.keys.map { "\($0.scheme)" }).sorted()
        if !schemes.isEmpty {
            result.description.metadata.userDefined["retint.activations"] =
                schemes.joined(separator: ", ")
        }
        return (result, restored)
    }

    /// Only the inputs of some operations, by their names.
    func used(by operations: Set<String>) -> ActivationQuantization {
        var result = self
        result.sites = sites.used(by: operations)
        return result
    }

    /// What is to say about each site.
    ///
    /// - Parameter effects: the change of the outputs when only this site is quantized.
    func report(
        except kept: Set<ActivationSite> = [],
        _ effects: [ActivationSite: QuantizationReport.OutputChange] = [:]
    ) -> [QuantizationReport.Activation] {
        sites.sites.compactMap { site in
            guard var entry = entries[site] else { return nil }
            if kept.contains(site) { entry = entry.keptAsFloat }
            entry.effect = effects[site]
            return entry
        }
    }
}

extension QuantizationReport.Activation {
    fileprivate init(_ site: ActivationSite, _ histogram: ValueHistogram, _ grid: AffineGrid) {
        let power = histogram.power(on: grid)
        self.init(
            name: site.value, scheme: "\(site.scheme)", low: histogram.low, high: histogram.high,
            scale: grid.scales[0], zeroPoint: grid.zeroPoints?[0] ?? 0,
            snrDb: decibels((power.signal, power.noise)))
    }

    fileprivate var keptAsFloat: QuantizationReport.Activation {
        var kept = self
        (kept.scheme, kept.scale, kept.zeroPoint, kept.snrDb) = (nil, nil, nil, nil)
        return kept
    }
}
