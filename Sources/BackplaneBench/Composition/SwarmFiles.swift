import BackplaneHost
import Foundation

/// The swarms of a run, each created when it is first needed.
actor SwarmFiles {
    private let kind: Swarm.Kind
    private let folder: String
    private var made: Set<Int> = []

    init(_ kind: Swarm.Kind, in folder: String) {
        (self.kind, self.folder) = (kind, folder)
    }

    /// Measures a swarm of the given size in a child, and always cleans up the load folder.
    ///
    /// - Parameter loads: The load folder.
    func figures(_ measure: LoadingChild.Measure, count: Int, loads: String) async throws -> LoadingChild.Figures {
        let swarm = Swarm(folder: folder + "/\(count)", loads: loads)
        if made.insert(count).inserted { try swarm.make(count, of: kind) }
        defer { try? FileManager.default.removeItem(atPath: swarm.loads) }
        return try await LoadingChild.figures(measure, of: swarm)
    }
}
