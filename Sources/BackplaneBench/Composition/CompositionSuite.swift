import Backplane
import BackplaneHost

// The cost of composing an application: resolving a manifest, loading libraries, idling, and applying changes.
extension BenchSuite {
    static let composition = BenchSuite(name: "composition") { folder in
        let apply = ApplyRows(in: folder + "/apply")
        let memory = FilePath.join(FilePath.folder(of: folder), "memory"), start = "backplane --version, whole process"
        let call = Row.process(
            "backplane call on one plugin, whole process", baseline: start, target: .median(atMost: 60)
        ) {
            try OnePlugin.callArguments(in: folder + "/call")
        }
        return Opened(
            rows: CrowdRows(in: folder + "/crowd").rows + [.process(start) { ["--version"] }, call]
                + SwarmRows(.c, in: folder, memory: memory).rows
                + SwarmRows(.swift, in: folder, memory: memory).rows
                + HostMemoryRows(in: folder + "/idle").rows + apply.rows
        ) {
            await apply.close()
        }
    }
}
