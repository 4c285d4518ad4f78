#if Engines
import Foundation
import GRDB

extension Row {
    /// Returns a copy of a column's bytes.
    func bytes(at index: Int) throws -> [UInt8] {
        try withUnsafeData(atIndex: index) { $0?.withUnsafeBytes { Array($0) } ?? [] }
    }

    /// Returns a column's bytes as UTF-8 text, including any zeros.
    func text(at index: Int) throws -> String {
        try withUnsafeData(atIndex: index) { $0?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? "" }
    }
}
#endif
