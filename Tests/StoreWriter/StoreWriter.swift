import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import Glibc
import SyncCounter

/// A process that has a store open, for tests that kill it or count what it asks of the system.
///
///     store-writer write FOLDER FIRST    writes batches of two records from a number on, until it is killed, and
///                                        prints each number once its batch was acknowledged
///     store-writer count FOLDER full|normal WRITES
///                                        prints how often the disk was waited for during as many writes
///     store-writer cache FOLDER FIRST    stores responses in a cache from a number on, until it is killed, and prints
///                                        each number once its response was stored
///     store-writer open FOLDER           prints how many bytes it read to open the store
///     store-writer fill FOLDER COUNT     writes records for the migration, and ends
///     store-writer migrate FOLDER        migrates them, and prints the number of records of each batch that was
///                                        acknowledged, and `done` at the end
@main
struct StoreWriter {
    static func main() async throws {
        alarm(300)  // whoever started it may be gone
        let arguments = CommandLine.arguments
        switch arguments[1] {
        case "write": try await write(try open(arguments[2]), from: Int(arguments[3])!)
        case "cache": try await CacheWriting.run(in: arguments[2], from: Int(arguments[3])!)
        case "count":
            let store = try open(arguments[2], StoreDurability(rawValue: arguments[3])!)
            try await write(store, from: 0, count: 1)  // makes the collection
            let before = synchronizations()
            try await write(store, from: 1, count: Int(arguments[4])!)
            print(synchronizations() - before)
        case "fill":
            let records = (0..<Int(arguments[3])!).map { number -> RecordChange in
                let json = #"{"id":"\#(number)","author":"Author \#(number)"}"#
                return .save(collection: "books", StoredRecord(id: "\(number)", value: Array(json.utf8)))
            }
            try await open(arguments[2], .normal).write(records, in: "A")
        case "migrate":
            try await Migration.run(try open(arguments[2]), in: arguments[2] + "/host")
            say("done\n")
        default:
            let before = bytesRead()
            let store = try open(arguments[2])
            print(bytesRead() - before)
            withExtendedLifetime(store) {}
        }
    }

    private static func open(_ folder: String, _ durability: StoreDurability = .full) throws -> SQLiteRecordStore {
        try SQLiteRecordStore(folder: folder, durability: durability) { error in
            Self.say("error \(error)\n")
        }
    }

    private static func write(_ store: SQLiteRecordStore, from first: Int, count: Int = .max) async throws {
        for number in first..<(count == .max ? .max : first + count) {
            let value = Array(#"{"number":\#(number)}"#.utf8)
            try await store.write(
                ["one", "other"].map { .save(collection: $0, StoredRecord(id: "\(number)", value: value)) }, in: "A")
            guard count == .max else { continue }
            say("\(number)\n")
        }
    }

    /// Writes a line in one piece, so that a kill leaves no half of it.
    static func say(_ line: String) {
        var line = line
        line.withUTF8 { _ = Glibc.write(1, $0.baseAddress, $0.count) }
    }

    /// The bytes that this process has read, from files and otherwise.
    private static func bytesRead() -> Int {
        guard let file = fopen("/proc/self/io", "r") else { return 0 }
        defer { fclose(file) }
        var count: CLong = 0
        return withUnsafeMutablePointer(to: &count) { count in
            withVaList([count]) { vfscanf(file, "rchar: %ld", $0) } == 1 ? count.pointee : 0
        }
    }
}
