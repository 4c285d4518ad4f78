import Foundation

/// The swarms that a run needs, each made when it is first asked for.
actor SwarmFiles {
    private let kind: Swarm.Kind
    private let folder: String
    private var made: Set<Int> = []

    init(_ kind: Swarm.Kind, in folder: String) { (self.kind, self.folder) = (kind, folder) }

    /// Has a child measure a swarm of so many, and leaves nothing of it in the load folder, however it ended.
    ///
    /// - Parameter loads: the load folder.
    func figures(_ measure: LoadingChild.Measure, count: Int, loads: String) async throws -> LoadingChild.Figures {
        let swarm = Swarm(folder: folder + "/\(count)", loads: loads)
        if made.insert(count).inserted { try swarm.make(count, of: kind) }
        defer { try? FileManager.default.removeItem(atPath: swarm.loads) }
        return try await LoadingChild.figures(measure, of: swarm)
    }
}
