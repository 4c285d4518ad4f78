import Backplane

/// The transfer of state from one class to another.
enum StateTransfer: Equatable {
    /// No transfer, because the old class has no state.
    case none
    /// The state is carried over in this version of the schema.
    case carried(StateDescription, as: UInt32, to: StateDescription)
    /// The state cannot be carried over, for this reason.
    case impossible(String, StateDescription)

    init(from old: StateDescription?, to new: StateDescription?) {
        guard let old else {
            self = .none
            return
        }
        guard let new else {
            self = .impossible("the new code has no state", old)
            return
        }
        guard old.schema == new.schema else {
            self = .impossible("its schema is `\(old.schema)`, but that of the new code is `\(new.schema)`", old)
            return
        }
        // The highest version that both know loses the least.
        let low = max(old.writes.lowerBound, new.accepts.lowerBound),
            high = min(old.writes.upperBound, new.accepts.upperBound)
        self =
            low <= high
            ? .carried(old, as: high, to: new)
            : .impossible(
                "`\(old.schema)` is written in \(Self.text(old.writes)), but the new code reads \(Self.text(new.accepts))",
                old)
    }

    var isCarried: Bool { if case .carried = self { true } else { false } }

    private static func text(_ versions: ClosedRange<UInt32>) -> String {
        versions.count == 1
            ? "version \(versions.lowerBound)" : "versions \(versions.lowerBound) to \(versions.upperBound)"
    }
}

extension StateTransfer {
    /// Returns the transfer in the form used in reports.
    func change(to new: StateDescription?) -> StateChange? {
        switch self {
        case .none: new.map { StateChange(schema: $0.schema, toVersion: $0.version) }
        case .carried(let old, _, let new):
            StateChange(schema: old.schema, fromVersion: old.version, toVersion: new.version)
        case .impossible(let reason, let old):
            StateChange(schema: old.schema, fromVersion: old.version, toVersion: new?.version, lost: reason)
        }
    }
}
