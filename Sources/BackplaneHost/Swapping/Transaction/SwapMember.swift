import Backplane

/// A component that a swap changes, with its results so far; its progress is known to the machine.
final class SwapMember {
    /// The member's number in the machine.
    let index: Int
    let plan: SwapPlan.Member
    /// The active node until now, or `nil` if there is none.
    let old: LiveNode?
    let oldComponent: RunningComponent?
    /// The plugin whose code runs in the old instance.
    let oldPlugin: LoadedPlugin?
    let new: LiveNode
    let newPlugin: LoadedPlugin

    var component: RunningComponent?
    /// The exported state of the old instance.
    var state: [UInt8]?
    /// The bindings taken out of slots: those of the old instance and, after a rollback, those of the new one.
    var taken: (old: Set<Binding>, new: Set<Binding>) = ([], [])
    /// The node of a new instance of the old code that takes the newer state back.
    var returning: LiveNode?
    /// The instance of the returning node.
    var restored: RunningComponent?
    /// The call counts of the component when the new instance began to serve.
    var baseline = CallCounts()

    init(
        _ index: Int, _ plan: SwapPlan.Member, old: LiveNode?, _ oldPlugin: LoadedPlugin?, new: LiveNode,
        _ newPlugin: LoadedPlugin
    ) {
        (self.index, self.plan, self.old, self.oldPlugin, self.new, self.newPlugin) = (
            index, plan, old, oldPlugin, new, newPlugin
        )
        oldComponent = old?.running
    }

    var name: String { new.node.name }
    var gate: Gate { new.gate }
}

/// The numbers of completed and of failed calls.
struct CallCounts: Hashable {
    var calls = 0
    var errors = 0

    static func - (a: CallCounts, b: CallCounts) -> CallCounts {
        CallCounts(calls: a.calls - b.calls, errors: a.errors - b.errors)
    }
}
