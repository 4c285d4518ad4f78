import Backplane
import BackplaneNetwork
import Glibc

/// The private folder of a component.
struct ComponentFolder: Sendable {
    /// The absolute path; empty if there is none.
    let path: String
    /// The function that creates the folder unless it exists.
    let make: @Sendable () throws(BackplaneError) -> Void

    /// Returns the absolute path of a file in the folder.
    ///
    /// - Parameter makingFolder: A Boolean value that indicates whether to create the component's folder.
    /// - Throws: `network.refused` for a path that escapes the folder, including through a link; the reason why there
    ///   is no folder.
    func path(of file: String, makingFolder: Bool) throws(BackplaneError) -> String {
        guard !path.isEmpty else {
            throw BackplaneError(
                .networkRefused,
                "the component has no folder; choose one with `HostOptions.dataFolder`, or set XDG_STATE_HOME",
                at: file)
        }
        let relative = file.hasPrefix(path + "/") ? String(file.dropFirst(path.count + 1)) : file
        let steps = Array(relative.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard !steps.contains(where: { ["", ".", ".."].contains($0) }), !relative.utf8.contains(0) else {
            throw BackplaneError(
                .networkRefused,
                "this is not a path in the component's folder \(path); use a path relative to it",
                at: file)
        }
        if makingFolder { try make() }
        let whole = FilePath.join(path, relative)
        guard let real = Self.real(FilePath.folder(of: whole)) else {
            throw BackplaneError(
                .networkRefused, "the folder of this file does not exist; create it below \(path) first", at: file)
        }
        guard let own = Self.real(path), real == own || real.hasPrefix(own + "/") else {
            throw BackplaneError(
                .networkRefused, "this path escapes the component's folder \(path), through a symbolic link",
                at: file)
        }
        if let target = Self.real(whole), !target.hasPrefix(own + "/") {
            throw BackplaneError(
                .networkRefused, "this is a symbolic link that escapes the component's folder \(path)", at: file)
        }
        return whole
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
