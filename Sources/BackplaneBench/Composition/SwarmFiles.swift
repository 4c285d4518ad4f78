import BackplaneHost
import BackplaneNetwork
import Foundation

/// The swarms that a run needs, each made when it is first asked for.
actor SwarmFiles {
    private let kind: Swarm.Kind
    private let folder: String
    private let digest: (any ContentDigest)?
    private var made: Set<Int> = []

    init(_ kind: Swarm.Kind, in folder: String, _ digest: (any ContentDigest)?) { (self.kind, self.folder, self.digest) = (kind, folder, digest) }

    /// Has a child measure a swarm of so many, and leaves nothing of it in the load folder, however it ended.
    ///
    /// - Parameter loads: the load folder.
    func figures(_ measure: LoadingChild.Measure, count: Int, loads: String) async throws -> LoadingChild.Figures {
        let swarm = Swarm(folder: folder + "/\(count)", loads: loads)
        if made.insert(count).inserted { try swarm.make(count, of: kind, digest) }
        defer { try? FileManager.default.removeItem(atPath: swarm.loads) }
        return try await LoadingChild.figures(measure, of: swarm)
    }
}
