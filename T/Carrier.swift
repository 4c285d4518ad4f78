import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import Foundation
import Testing
enum CarrierHost {
    static func with(_ body: (PluginHost, String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "carrier-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let library = try compile("1.0.0", in: folder)
        let host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: library)],
                managers: ["Carrier": ManagerDefinition(className: "Carrier")],
                network: NetworkSettings(executors: ["carrier": "Carrier"])),
            options: HostOptions(
                loadFolder: folder + "/loads", dataFolder: folder + "/data", occupationLimit: nil))
        do {
            try await host.start()
            try await body(host, folder)
            await host.stop()
        } catch {
            await host.stop()
            throw error
        }
    }

    /// Compiles an edition of the plugin, and returns the library's path.
    static func compile(_ edition: String, in folder: String) throws -> String {
        let root = "/work/C"
        let library = "\(folder)/libCarrier-\(edition).so"
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = [
            "clang", "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1",
            "-fvisibility=hidden", "-shared", "-fPIC", "-pthread", "-DEDITION=\"\(edition)\"", "-I",
            root + "/Sources/CBackplane/include", "-o", library, root + "/Tests/Plugins/Carrier/carrier.c",
        ]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return library
    }
}
