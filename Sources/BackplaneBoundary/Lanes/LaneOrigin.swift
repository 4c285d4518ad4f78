import Backplane
import CBackplane

/// A plugin, or the host program, as far as lanes go.
package struct LaneOrigin: Sendable, Hashable {
    /// For messages: "plugin `org.example.clock`".
    package var name: String
    /// The compiler it was built by, in the compiler's words; empty: it does not say.
    package var toolchain: String
    /// 0: it takes no part in the native lane.
    package var revision: UInt32

    package init(name: String, toolchain: String, revision: UInt32) {
        (self.name, self.toolchain, self.revision) = (name, toolchain, revision)
    }
}

extension LaneOrigin {
    /// The program that this copy of the SDK is in.
    package static var program: LaneOrigin {
        LaneOrigin(name: "the host program", toolchain: SwiftCompiler.build, revision: BP_LANE_REVISION)
    }

    /// Does it share slots with this program?
    var sharesSlots: Bool { revision == Self.program.revision }
}
