import Backplane
import ParityContracts

final class FramesManager: Manager {
    typealias Provides = Frames

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.frame) { _, _, call in Frame(call) }
        table.sync(\.frameNow) { _, _, call in Frame(call) }
    }
}
