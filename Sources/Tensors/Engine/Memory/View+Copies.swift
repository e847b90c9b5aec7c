import CRetintKernels
import RetintCompiler
import RetintTensors

extension View {
    var cView: rt_view {
        precondition(axes.count <= Int(RT_MAX_RANK), "too many axes in a view")
        var view = rt_view()
        view.rank = Int32(axes.count)
        withUnsafeMutableBytes(of: &view.extent) { extents in
            withUnsafeMutableBytes(of: &view.step) { steps in
                for (index, axis) in axes.enumerated() {
                    extents.bindMemory(to: Int.self)[index] = axis.extent
                    steps.bindMemory(to: Int.self)[index] = axis.step
                }
            }
        }
        return view
    }

    /// Copies the view's elements to `target`, in the view's order.
    func gather(
        from source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        withUnsafePointer(to: cView) { rt_gather(target, source, $0, 0, count) }
    }

    /// Copies `source` to the view's elements of `target`, in the view's order.
    func scatter(
        _ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        withUnsafePointer(to: cView) { rt_scatter(target, source, $0, 0, count) }
    }
}
