import Backplane

/// A component that a swap changes, with its results so far; its progress is tracked by the machine.
final class SwapMember {
    /// The member's number in the machine.
    let index: Int
    let plan: SwapPlan.Member
    /// The node that was active before, or `nil` if there is none.
    let old: LiveNode?
    let oldComponent: RunningComponent?
    /// The plugin whose code runs in the old instance.
    let oldPlugin: LoadedPlugin?
    /// The node of the new instance, or `nil` if the component is removed.
    let new: LiveNode?
    let newPlugin: LoadedPlugin?
    /// The new node, or that of a removed component.
    let node: LiveNode

    /// The member's position among the components of the report, or `nil` if the component is removed.
    var placeInReport: Int?
    var component: RunningComponent?
    /// The lane in which the state crosses to the new instance, or `nil` if none is carried over.
    var lane: LaneChoice?
    /// The exported state of the old instance, until the new one serves callers.
    var state: ExportedState?
    /// The bindings removed from slots: those of the old instance and, after a rollback, those of the new one.
    var taken: (old: Set<Binding>, new: Set<Binding>) = ([], [])
    /// The node of a new instance of the old code that receives the newer state after a rollback.
    var returning: LiveNode?
    /// The instance of the returning node.
    var restored: RunningComponent?
    /// The call counts of the component when the new instance started to serve.
    var baseline = CallCounts()

    /// Creates the member for a component with a new instance.
    init(
        _ index: Int, _ plan: SwapPlan.Member, old: LiveNode?, _ oldPlugin: LoadedPlugin?, new: LiveNode,
        _ newPlugin: LoadedPlugin
    ) {
        (self.index, self.plan, self.old, self.oldPlugin) = (index, plan, old, oldPlugin)
        (self.new, self.newPlugin, node) = (new, newPlugin, new)
        oldComponent = old?.running
    }

    /// Creates the member for a component that is removed.
    init(_ index: Int, _ plan: SwapPlan.Member, removing old: LiveNode, _ oldPlugin: LoadedPlugin) {
        (self.index, self.plan, self.old, self.oldPlugin) = (index, plan, old, oldPlugin)
        (new, newPlugin, node) = (nil, nil, old)
        oldComponent = old.running
    }

    var name: String { node.node.name }
    var gate: Gate { node.gate }

    /// The names, before and after, of a manager that the swap renames.
    var renaming: (from: String, to: String)? {
        guard let old, let new, new.node.role == .manager, old.node.name != new.node.name else { return nil }
        return (old.node.name, new.node.name)
    }
}

/// The numbers of completed and of failed calls.
struct CallCounts: Hashable {
    var calls = 0
    var errors = 0

    static func - (a: CallCounts, b: CallCounts) -> CallCounts {
        CallCounts(calls: a.calls - b.calls, errors: a.errors - b.errors)
    }
}
