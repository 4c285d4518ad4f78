import Backplane

/// A component that a swap changes, and what it has meanwhile; how far it is, the machine knows.
final class SwapMember {
    /// Its number in the machine.
    let index: Int
    let plan: SwapPlan.Member
    /// The one in force until now; `nil`: there is none.
    let old: LiveNode?
    let oldComponent: RunningComponent?
    /// The plugin whose code runs in the old one.
    let oldPlugin: LoadedPlugin?
    let new: LiveNode
    let newPlugin: LoadedPlugin

    var component: RunningComponent?
    /// What the old one handed over.
    var state: [UInt8]?
    /// Taken out of slots, when wires were led elsewhere: of the old one, and of the new one where its generation was taken back.
    var taken: (old: Set<Binding>, new: Set<Binding>) = ([], [])
    /// The node of a new instance of the old code, that takes the newer state back; and that instance.
    var returning: LiveNode?
    var restored: RunningComponent?
    /// What was asked of the component before the new one served.
    var baseline = CallCounts()

    init(_ index: Int, _ plan: SwapPlan.Member, old: LiveNode?, _ oldPlugin: LoadedPlugin?, new: LiveNode, _ newPlugin: LoadedPlugin) {
        (self.index, self.plan, self.old, self.oldPlugin, self.new, self.newPlugin) = (index, plan, old, oldPlugin, new, newPlugin)
        oldComponent = old?.running
    }

    var name: String { new.node.name }
    var gate: Gate { new.gate }
}

/// How many calls there were, and how many of them failed.
struct CallCounts: Hashable {
    var calls = 0
    var errors = 0

    static func - (a: CallCounts, b: CallCounts) -> CallCounts { CallCounts(calls: a.calls - b.calls, errors: a.errors - b.errors) }
}
