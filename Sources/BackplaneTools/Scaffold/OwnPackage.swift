import Backplane
import BackplaneHost
import FoundationEssentials

/// The package from which this program was built.
enum OwnPackage {
    /// A file that distinguishes a checkout of Backplane from other packages.
    static let mark = "Sources/CBackplane/include/backplane.h"

    static func isBackplane(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: FilePath.join(folder, mark))
            && FileManager.default.fileExists(atPath: FilePath.join(folder, "Package.swift"))
    }

    /// Returns the path of the package: the one that contains the executable, or the one recorded at build time.
    ///
    /// - Throws: `new.package` if it no longer exists.
    static func path() throws(BackplaneError) -> String {
        let around = RunningExecutable.folder.map(folders(above:)) ?? []
        if let found = (around + [built]).first(where: isBackplane) { return found }
        throw BackplaneError(
            .newPackage,
            "the package that this command was built from no longer exists; specify the location of Backplane with "
                + "--backplane PATH or --backplane URL",
            at: built)
    }

    private static let built = FilePath.absolute(FilePath.join(FilePath.folder(of: #filePath), "../../.."))

    /// Returns the folder itself and all folders above it, nearest first.
    static func folders(above path: String) -> [String] {
        var folders = [path]
        while let last = folders.last, last != "/", last != "." { folders.append(FilePath.folder(of: last)) }
        return folders
    }
}
