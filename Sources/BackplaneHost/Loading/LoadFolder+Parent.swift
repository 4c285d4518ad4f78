import Backplane

/// The folder in which hosts create their load folders.
extension LoadFolder {
    static func defaultParent(_ environment: (String) -> String?) -> String {
        RuntimeFolder.path(in: "XDG_CACHE_HOME", environment)
    }

    static func makeParent(_ path: String) throws(BackplaneError) {
        do throws(PrivateFolder.Defect) {
            try PrivateFolder.make(at: path)
        } catch {
            throw unusable(path, error.text)
        }
    }

    static func requireExecution(in path: String) throws(BackplaneError) {
        do throws(SystemError) {
            if try !Mount(holding: path).isNoExec { return }
        } catch {
            throw unusable(path, "cannot be inspected: \(error)")
        }
        throw unusable(path, "is on a file system that is mounted noexec, from which nothing can be loaded")
    }

    static func unusable(_ path: String, _ reason: String) -> BackplaneError {
        BackplaneError(
            .loadFolderUnusable,
            "the folder that libraries are loaded from \(reason); choose another with `HostOptions.loadFolder`",
            at: path)
    }
}
