import Backplane
import CBackplane

/// The plugin or host program at one end of a lane.
package struct LaneOrigin: Sendable, Hashable {
    /// The name used in messages, such as "plugin `org.example.clock`".
    package var name: String
    /// The compiler that built it, as the compiler identifies itself; empty if unknown.
    package var toolchain: String
    /// The lane revision; 0 if it has no native lane.
    package var revision: UInt32
    /// The reason why it is always called in JSON, as a sentence without a full stop; `nil` if it need not be.
    package var encodes: String?

    package init(name: String, toolchain: String, revision: UInt32, encodes: String? = nil) {
        (self.name, self.toolchain, self.revision, self.encodes) = (name, toolchain, revision, encodes)
    }
}

extension LaneOrigin {
    /// The program that contains this copy of the SDK.
    package static var program: LaneOrigin {
        LaneOrigin(name: "the host program", toolchain: SwiftCompiler.build, revision: BP_LANE_REVISION)
    }

    /// A Boolean value that indicates whether it shares slots with this program.
    var sharesSlots: Bool { revision == Self.program.revision }
}
