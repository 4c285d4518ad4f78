import BackplaneHost
import BackplaneNetwork
import Foundation

/// The swarms of a run, each created when it is first needed.
actor SwarmFiles {
    private let kind: Swarm.Kind
    private let folder: String
    private let digest: any ContentDigest
    private var made: Set<Int> = []

    init(_ kind: Swarm.Kind, in folder: String, _ digest: any ContentDigest) {
        (self.kind, self.folder, self.digest) = (kind, folder, digest)
    }

    /// Measures a swarm of the given size in a child, and always cleans up the load folder.
    ///
    /// - Parameter loads: The load folder.
    func figures(_ measure: LoadingChild.Measure, count: Int, loads: String) async throws -> LoadingChild.Figures {
        let swarm = Swarm(folder: folder + "/\(count)", loads: loads)
        if made.insert(count).inserted { try swarm.make(count, of: kind, digest) }
        defer { try? FileManager.default.removeItem(atPath: swarm.loads) }
        return try await LoadingChild.figures(measure, of: swarm)
    }
}
