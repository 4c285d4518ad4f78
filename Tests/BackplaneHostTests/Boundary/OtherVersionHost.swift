import Backplane
import CBackplane
import Synchronization

/// A host of another year: its structs are longer or shorter than those that the SDK knows, and end at the edge of
/// memory.
struct OtherVersionHost {
    var abiMin: UInt32 = 0
    var abiMax: UInt32 = 0
    /// In bytes.
    var offerSize = MemoryLayout<bp_offer>.size
    var answerSize = MemoryLayout<bp_answer>.size
    var getInterface: bp_get_interface = { _, _ in nil }

    init() {}
    init(abi: ClosedRange<UInt32>) { (abiMin, abiMax) = (abi.lowerBound, abi.upperBound) }
    init(abiMin: UInt32, abiMax: UInt32) { (self.abiMin, self.abiMax) = (abiMin, abiMax) }

    /// What came of asking a plugin.
    struct Asked {
        var status: Int32
        /// As far as it was answered, and zero from there on.
        var answer: bp_answer
        /// In bytes.
        var offered: Int
        /// The bytes that are as they were before.
        var untouched: Range<Int>
    }

    func ask(_ plugin: any Plugin.Type) -> Asked {
        let offer = bp_offer(
            size: 0, abi_min: abiMin, abi_max: abiMax, lane_revision: 0, host_version: .empty, toolchain: .empty,
            get_interface: getInterface)
        let offerMemory = GuardedMemory([offer], size: offerSize), answerMemory = GuardedMemory(count: answerSize)
        answerMemory.start.storeBytes(of: UInt32(answerSize), as: UInt32.self)
        let before = answerMemory.bytes
        let status = withExtendedLifetime(offerMemory) { plugin.enter(offerMemory.pointer(), answerMemory.pointer()) }
        let after = answerMemory.bytes
        let touched = before.indices.last { before[$0] != after[$0] }.map { $0 + 1 } ?? 0
        let answer: bp_answer = read(UnsafeRawPointer(answerMemory.start))
        return Asked(status: status, answer: answer, offered: answerSize, untouched: touched..<answerSize)
    }

    /// The class of that name; `nil`: the plugin does not bring it.
    func component(_ name: String, of plugin: any Plugin.Type) throws -> bp_component? {
        let answer = ask(plugin).answer
        return try Descriptors.read(answer.components, count: answer.component_count, of: "components").first {
            $0.class_name.text == name
        }
    }
}

/// What a component answered.
struct Reply: Sendable, Equatable {
    var status: Int32
    var text: String
}

extension bp_component {
    /// Makes an instance, with the creation and its wires in structs of these sizes.
    ///
    /// - Returns: the instance, or the error that there is none.
    func make(
        configuration: String = "{}", resources: String = "", labels: [String] = [],
        creationSize: Int = MemoryLayout<bp_creation>.size,
        connectionSize: Int = MemoryLayout<bp_connection>.size
    ) async -> (instance: Instance?, error: Reply) {
        // Closed slots: nobody calls through them.
        let slots = GuardedMemory(count: 4_096)
        slots.start.initializeMemory(as: UInt8.self, repeating: 0, count: 4_096)
        return await withUnsafeContinuation { continuation in
            let waiting = Waiting {
                continuation.resume(returning: (Instance(raw: $0, memory: slots), Reply(status: $1, text: $2)))
            }
            labels.withTexts { labels in
                let connections = labels.enumerated().map { index, label in
                    bp_connection(
                        size: 0, reserved: 0, label: label, wire: UInt64(index), slot: slots.start + index * 512)
                }
                let lent = GuardedMemory(connections, size: connectionSize)
                configuration.withBytes { configuration in
                    resources.withBytes { resources in
                        let creation = bp_creation(
                            size: 0, number: 1, handle: 7, configuration: configuration, folder: .empty,
                            wires: connections.isEmpty ? nil : UnsafePointer(lent.pointer()),
                            wire_count: connections.count, resources: resources)
                        let memory = GuardedMemory([creation], size: creationSize)
                        withExtendedLifetime((lent, memory)) {
                            create?(type, memory.pointer(), { Waiting.take($0)($2, $1, $3.text) }, waiting.context)
                        }
                    }
                }
            }
        }
    }

    /// Calls a method of an instance.
    func ask(_ instance: Instance?, method: UInt32 = 0, _ input: String = "null", for call: Call = Call())
        async -> Reply
    {
        guard let raw = instance?.raw else { return Reply(status: -1, text: "there is no instance") }
        return await withUnsafeContinuation { continuation in
            let waiting = Waiting { continuation.resume(returning: Reply(status: $1, text: $2)) }
            call.withC { frame in
                input.withBytes {
                    self.call?(raw, method, $0, frame, 1, { Waiting.take($0)(nil, $1, $2.text) }, waiting.context)
                }
            }
        }
    }

    /// An instance, and what it points into.
    struct Instance: @unchecked Sendable {  // the plugin's own pointer
        let raw: UnsafeMutableRawPointer
        let memory: GuardedMemory

        init?(raw: UnsafeMutableRawPointer?, memory: GuardedMemory) {
            guard let raw else { return nil }
            (self.raw, self.memory) = (raw, memory)
        }
    }
}

/// Whoever waits for a callback.
private final class Waiting: Sendable {
    typealias Body = @Sendable (UnsafeMutableRawPointer?, Int32, String) -> Void
    private let body: Body
    init(_ body: @escaping Body) { self.body = body }

    var context: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func take(_ context: UnsafeMutableRawPointer?) -> Body {
        Unmanaged<Waiting>.fromOpaque(context!).takeRetainedValue().body
    }
}

extension [String] {
    /// Lends all of them for as long as `body` runs.
    fileprivate func withTexts<Result>(_ body: ([bp_bytes]) -> Result, _ lent: [bp_bytes] = []) -> Result {
        guard let first else { return body(lent) }
        return first.withBytes { Array(dropFirst()).withTexts(body, lent + [$0]) }
    }
}
