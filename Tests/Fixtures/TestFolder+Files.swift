import BackplaneHost
package import BackplaneTestKit
import Glibc

extension TestFolder {
    /// Writes a file and returns its path.
    @discardableResult
    package func write(_ bytes: [UInt8] = [], as name: String, mode: UInt32 = 0o755) throws -> String {
        let path = FilePath.join(path, name)
        guard FileContents.write(bytes, to: path, mode: mode) else { throw SystemError.last }
        return path
    }

    package func makeFolder(_ name: String, mode: UInt32 = 0o700) throws -> String {
        let path = FilePath.join(path, name)
        guard mkdir(path, 0o700) == 0, chmod(path, mode) == 0 else { throw SystemError.last }
        return path
    }

    package func link(_ name: String, to target: String) throws -> String {
        let path = FilePath.join(path, name)
        guard symlink(target, path) == 0 else { throw SystemError.last }
        return path
    }
}
