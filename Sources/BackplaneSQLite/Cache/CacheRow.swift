#if Engines
import BackplaneExchange
import BackplaneNetwork
import Foundation
import GRDB

/// A row of the table `entries`.
enum CacheRow {
    /// A response and the time of its last recorded use.
    case intact(CachedResponse, used: Double)
    /// A row without its whole body, with the name of the body's file.
    case broken(id: Int64, file: String?)

    /// Finds the row with a key, and reads its body.
    static func find(_ key: String, in db: Database, _ files: CacheFile) throws -> CacheRow? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, url, endpoint, tags, status, headers, requested, received, expires, varying, used, length,
                    file, body FROM entries WHERE key = ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [key]) else { return nil }
        let length: Int = row[11], name: String? = row[12]
        let body = if let name { try files.readBody(name, length: length) } else { row[13] as Data? ?? Data() }
        guard let body, body.count == length, let tags = PackedStrings.unpack(row[3]),
            let headers = PackedStrings.unpack(row[5]), let varying = PackedStrings.unpack(row[9])
        else { return .broken(id: row[0], file: name) }
        var fields: HTTPHeaders = [:], variants: [String: String] = [:]
        for index in stride(from: 1, to: headers.count, by: 2) { fields.add(headers[index - 1], headers[index]) }
        for index in stride(from: 1, to: varying.count, by: 2) { variants[varying[index - 1]] = varying[index] }
        var response = CachedResponse(
            key: key, url: row[1], endpoint: row[2], tags: tags, HTTPResponse(status: row[4], headers: fields),
            requested: Date(timeIntervalSinceReferenceDate: row[6]),
            received: Date(timeIntervalSinceReferenceDate: row[7]),
            expires: Date(timeIntervalSinceReferenceDate: row[8]), varying: variants)
        response.body = body
        return .intact(response, used: row[10])
    }

    static func fileName(of key: String, in db: Database) throws -> String? {
        try String.fetchOne(db.cachedStatement(sql: "SELECT file FROM entries WHERE key = ?"), arguments: [key])
    }

    /// Adds a response, or replaces the one with the same key.
    ///
    /// - Parameter file: The name of the file with the body; `nil` to store the body in the row.
    static func save(_ response: CachedResponse, for key: String, used: Double, file: String?, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO entries (key, url, endpoint, tags, status, headers, requested, received, expires, varying,
                    used, cost, length, file, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (key) DO UPDATE SET url = excluded.url, endpoint = excluded.endpoint, tags = excluded.tags,
                    status = excluded.status, headers = excluded.headers, requested = excluded.requested,
                    received = excluded.received, expires = excluded.expires, varying = excluded.varying,
                    used = excluded.used, cost = excluded.cost, length = excluded.length, file = excluded.file,
                    body = excluded.body
                """)
        try statement.execute(arguments: [
            key, response.url, response.endpoint, PackedStrings.pack(response.tags), response.status,
            PackedStrings.pack(response.headers.fields.flatMap { [$0.name, $0.value] }),
            response.requested.timeIntervalSinceReferenceDate, response.received.timeIntervalSinceReferenceDate,
            response.expires.timeIntervalSinceReferenceDate,
            PackedStrings.pack(response.varying.flatMap { [$0.key, $0.value] }), used, response.cost,
            response.body.count, file, file == nil ? response.body : nil,
        ])
    }

    /// Returns whether a rule selects any response.
    static func exists(for rule: CacheExpiry, in db: Database) throws -> Bool {
        let (condition, arguments) = condition(of: rule)
        let statement = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM entries WHERE \(condition))")
        return try Bool.fetchOne(statement, arguments: arguments) ?? false
    }

    /// Returns the condition of the responses that a rule selects.
    static func condition(of rule: CacheExpiry) -> (sql: String, arguments: StatementArguments) {
        var conditions: [String] = [], arguments = StatementArguments()
        if let date = rule.date {
            conditions.append("expires <= ?")
            arguments += [date.timeIntervalSinceReferenceDate]
        }
        if let endpoint = rule.endpoint {
            conditions.append("endpoint = ?")
            arguments += [endpoint]
        }
        if let url = rule.url {
            conditions.append("url = ?")
            arguments += [url]
        }
        if let prefix = rule.prefix {
            // The index finds the first URL. The character at the end of the range comes after all characters of URLs.
            conditions.append("url >= ? AND url < ?")
            arguments += [prefix, prefix + "\u{10FFFF}"]
        }
        if let tag = rule.tag {
            conditions.append("tags IS NOT NULL AND instr(tags, ?) > 0")
            arguments += [PackedStrings.pack([tag])]
        }
        return (conditions.isEmpty ? "TRUE" : conditions.joined(separator: " AND "), arguments)
    }

    /// Returns the responses without their bodies, the most recently used first.
    ///
    /// A response with the status 0 only names the fields by which others vary.
    static func list(of url: String?, limit: Int, in db: Database) throws -> [CacheEntry] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT key, url, endpoint, tags, status, length, received, expires FROM entries
                WHERE status <> 0 \(url == nil ? "" : "AND url = ?") ORDER BY used DESC LIMIT ?
                """, arguments: url.map { [$0, limit] } ?? [limit])
        return rows.map { row in
            CacheEntry(
                key: row[0], url: row[1], endpoint: row[2], tags: PackedStrings.unpack(row[3]) ?? [], status: row[4],
                size: row[5], received: Date(timeIntervalSinceReferenceDate: row[6]),
                expires: Date(timeIntervalSinceReferenceDate: row[7]), in: .disk)
        }
    }
}

/// A list of strings as bytes: before each string its length in four bytes, the least significant first.
enum PackedStrings {
    /// Returns the bytes; `nil` for an empty list.
    static func pack(_ strings: [String]) -> Data? {
        guard !strings.isEmpty else { return nil }
        var data = Data(capacity: strings.reduce(0) { $0 + $1.utf8.count + 4 })
        for string in strings {
            withUnsafeBytes(of: UInt32(string.utf8.count).littleEndian) { data.append(contentsOf: $0) }
            data.append(contentsOf: string.utf8)
        }
        return data
    }

    /// Returns the strings; `nil` if the bytes are not such a list.
    static func unpack(_ data: Data?) -> [String]? {
        guard let data else { return [] }
        return data.withUnsafeBytes { bytes in
            var strings: [String] = [], place = 0
            while place < bytes.count {
                guard bytes.count - place >= 4 else { return nil }
                let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
                guard length <= bytes.count - place - 4 else { return nil }
                strings.append(String(decoding: bytes[(place + 4)..<(place + 4 + length)], as: UTF8.self))
                place += 4 + length
            }
            return strings
        }
    }
}
#endif
