import Backplane
import BackplaneHost
import BackplanePackages
import FoundationEssentials

/// The package that this program was built from.
enum OwnPackage {
    /// A file that tells a checkout of Backplane from other packages.
    static let mark = "Sources/CBackplane/include/backplane.h"

    static func isBackplane(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: FilePath.join(folder, mark)) && FileManager.default.fileExists(atPath: FilePath.join(folder, "Package.swift"))
    }

    /// Where it is: around the executable, which lies in its build folder, or where it was when that was built, which an installed one remembers.
    ///
    /// - Throws: `new.package` where it is gone.
    static func path() throws(BackplaneError) -> String {
        let around = RunningExecutable.folder.map(folders(above:)) ?? []
        if let found = (around + [built]).first(where: isBackplane) { return found }
        throw BackplaneError(
            .newPackage, "the package that this command was built from is not there any more; say with --backplane PATH or --backplane URL where Backplane is", at: built)
    }

    private static let built = FilePath.absolute(FilePath.join(FilePath.folder(of: #filePath), "../.."))

    /// The nearest first, itself too.
    static func folders(above path: String) -> [String] {
        var folders = [path]
        while let last = folders.last, last != "/", last != "." { folders.append(FilePath.folder(of: last)) }
        return folders
    }
}
