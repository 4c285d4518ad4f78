import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHost
import Foundation

/// The manifest `manifests/bookshelf-both.json`, with the address of the demo's server.
enum DemoManifest {
    /// Returns the manifest's path, searching the current folder, then the folders above this program.
    static func find(from program: String) throws(BackplaneError) -> String {
        let name = "manifests/bookshelf-both.json"
        var folders = [FileManager.default.currentDirectoryPath]
        var folder = URL(filePath: program)
        while folder.path != "/" {
            folders.append(folder.path)
            folder.deleteLastPathComponent()
        }
        guard let found = folders.map({ "\($0)/\(name)" }).first(where: FileManager.default.fileExists) else {
            throw BackplaneError(
                .manifestUnreadable,
                "\(name) is neither in the current folder nor above this program; run the demo from a checkout",
                at: name)
        }
        return found
    }

    static func read(_ path: String, server: String) throws(BackplaneError) -> Manifest {
        var manifest = try Manifest(contentsOf: path)
        for name in manifest.managers.keys {
            guard var controller = manifest.managers[name]?.communicationController else { continue }
            for index in controller.services.indices {
                // Keep the path of the URL, `/v1` or `/v2`.
                guard case .string(let url) = controller.services[index].networkServiceConfiguration["baseURL"] else {
                    continue
                }
                controller.services[index].networkServiceConfiguration["baseURL"] = .string(
                    server + (URL(string: url)?.path ?? ""))
            }
            manifest.managers[name]?.communicationController = controller
        }
        for (name, credential) in manifest.network.credentials {
            manifest.network.credentials[name] = credential.asking(server)
        }
        return manifest
    }
}

extension Credential {
    /// Returns the credential with a sign-in at another server, with the same path.
    fileprivate func asking(_ server: String) -> Credential {
        guard case .bearer(var source) = scheme, let url = source.signIn?.url else { return self }
        source.signIn?.url = server + (URL(string: url)?.path ?? "")
        var credential = self
        credential.scheme = .bearer(source)
        return credential
    }
}
