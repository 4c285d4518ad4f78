import Foundation
import Glibc

func copy(_ source: String, to target: String) {
    write(contents(of: source), to: target)
}

func contents(of path: String) -> [UInt8] {
    FileManager.default.contents(atPath: path).map { Array($0) } ?? []
}

func write(_ bytes: [UInt8], to path: String) {
    _ = FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o755])
}
