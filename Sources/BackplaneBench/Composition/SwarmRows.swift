import Backplane
import BackplaneHost

/// The rows for the cost of one plugin among many, which a host in a child process loads.
///
/// The steps are measured in one child of each round. They do not add up to the whole, which includes resolving the
/// manifest.
struct SwarmRows: Sendable {
    private let kind: Swarm.Kind
    private let files: SwarmFiles
    /// The load folders in memory and in the temporary folder.
    private let memory, disk: String
    private let steps, stepsOnDisk: SharedFigures

    /// Creates the rows of a kind of library.
    init(_ kind: Swarm.Kind, in folder: String, memory: String) {
        let name = "/swarm-\(kind.rawValue)", files = SwarmFiles(kind, in: folder + name),
            memory = memory + name, disk = folder + name + "/load"
        (self.kind, self.files, self.memory, self.disk) = (kind, files, memory, disk)
        steps = SharedFigures { try await files.figures(.steps, count: $0, loads: memory) }
        stepsOnDisk = SharedFigures { try await files.figures(.steps, count: $0, loads: disk) }
    }

    var rows: [Row] {
        let files = files, steps = steps, stepsOnDisk = stepsOnDisk, memory = memory
        return [
            row("loaded, checked, wired and started", target: kind == .c ? .median(atMost: 0.5) : nil) {
                try await files.figures(.start, count: $0, loads: memory)["start"]
            },
            row("copying") { try await steps.next("copying", count: $0) },
            row("hashing") { try await steps.next("hashing", count: $0) },
            row("checking") { try await steps.next("checking", count: $0) },
            row("dlopen") { try await steps.next("loading", count: $0) },
            row("entry and answer") { try await steps.next("asking", count: $0) },
            row("wiring and starting") { try await files.figures(.wiring, count: $0, loads: memory)["wiring"] },
            row("bare dlopen and dlsym of the same files") {
                try await files.figures(.bare, count: $0, loads: memory)["bare"]
            },
            // The cost of creating a file depends on the file system, and varies more than all other steps together.
            row("copied to the temporary folder instead") { try await stepsOnDisk.next("copying", count: $0) },
        ]
    }

    private func row(
        _ what: String, target: Target? = nil, _ nanoseconds: @escaping @Sendable (Int) async throws -> Double?
    ) -> Row {
        Row(
            name: "one of \(kind.count) plugins in \(kind.rawValue): \(what)", unit: .milliseconds, target: target,
            limit: kind.count, count: kind.count
        ) { count in
            guard let figure = try await nanoseconds(count) else {
                throw BackplaneError(.componentFailed, "the loading process reported no result", at: what)
            }
            return Row.Unit.milliseconds.figure(nanoseconds: figure)
        }
    }
}
