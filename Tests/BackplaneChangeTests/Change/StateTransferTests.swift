import Backplane
import Testing

@testable import BackplaneHost

/// Which version of a state crosses, and when none can.
struct StateTransferTests {
    private func state(
        _ schema: String = "sum", _ version: UInt32 = 1, accepts: ClosedRange<UInt32>? = nil, writes: UInt32? = nil
    ) -> StateDescription {
        StateDescription(
            schema: schema, version: version, accepts: accepts ?? version...version,
            writes: (writes ?? version)...version)
    }

    private func reason(_ transfer: StateTransfer) -> String? {
        if case .impossible(let reason, _) = transfer { reason } else { nil }
    }

    @Test func `without state before there is nothing to carry`() {
        #expect(StateTransfer(from: nil, to: nil) == .none)
        #expect(StateTransfer(from: nil, to: state()) == .none)
        #expect(!StateTransfer(from: nil, to: state()).isCarried)
    }

    @Test func `every pair of small ranges is carried exactly when they meet`() {
        for version in UInt32(0)...4 {
            for writes in 0...version {
                for low in UInt32(0)...4 {
                    for high in low...4 {
                        let old = state("sum", version, writes: writes), new = state("sum", high, accepts: low...high)
                        let common = Set(writes...version).intersection(low...high)
                        let transfer = StateTransfer(from: old, to: new)
                        #expect(transfer.isCarried == !common.isEmpty, "\(writes)...\(version) to \(low)...\(high)")
                        if case .carried(_, let version, _) = transfer { #expect(version == common.max()) }
                    }
                }
            }
        }
    }

    @Test func `what cannot be carried says why`() {
        #expect(reason(StateTransfer(from: state(), to: nil)) == "the new code has no state")
        #expect(
            reason(StateTransfer(from: state(), to: state("words")))
                == "its schema is `sum`, but that of the new code is `words`")
        #expect(
            reason(StateTransfer(from: state("sum", 4, writes: 3), to: state("sum", 2)))
                == "`sum` is written in versions 3 to 4, but the new code reads version 2")
        #expect(
            reason(StateTransfer(from: state(), to: state("sum", 3, accepts: 2...3)))
                == "`sum` is written in version 1, but the new code reads versions 2 to 3")
    }

    @Test func `reports describe what happens to it`() {
        let old = state(), new = state("sum", 2, accepts: 1...2)
        #expect(
            StateTransfer(from: old, to: new).change(to: new)
                == StateChange(schema: "sum", fromVersion: 1, toVersion: 2))
        #expect(
            StateTransfer(from: nil, to: new).change(to: new)
                == StateChange(schema: "sum", fromVersion: nil, toVersion: 2))
        #expect(StateTransfer(from: nil, to: nil).change(to: nil) == nil)
        #expect(StateTransfer(from: old, to: nil).change(to: nil)?.lost == "the new code has no state")
    }
}
