import Backplane

/// A component that a swap changes, and how far it is. Only the coordinator touches it.
final class SwapMember {
    let plan: SwapPlan.Member
    /// The one in force until now; `nil`: there is none.
    let old: LiveNode?
    let oldComponent: RunningComponent?
    /// The plugin whose code runs in the old one.
    let oldPlugin: LoadedPlugin?
    let new: LiveNode
    let newPlugin: LoadedPlugin

    var component: RunningComponent?
    /// The new one has taken what it takes in `activate`.
    var isActive = false
    /// It was asked to.
    var wasToBeActive = false
    var isOldSuspended = false
    /// What the old one handed over.
    var state: [UInt8]?
    /// Taken out of the slots of those that called the old one.
    var taken: Set<Binding> = []
    /// The same of the new one, where its generation was taken back.
    var takenBack: Set<Binding> = []
    /// A new instance of the old code, that took the newer state back.
    var restored: (node: LiveNode, component: RunningComponent)?
    /// What was asked of the component before the new one served.
    var baseline = CallCounts()

    init(_ plan: SwapPlan.Member, old: LiveNode?, _ oldPlugin: LoadedPlugin?, new: LiveNode, _ newPlugin: LoadedPlugin) {
        (self.plan, self.old, self.oldPlugin, self.new, self.newPlugin) = (plan, old, oldPlugin, new, newPlugin)
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
