import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials
import Glibc

/// A file with the response of an endpoint: JSON, or a head and a body (``Mocks``).
struct MockFile: Sendable, Equatable {
    private(set) var status = 200
    private(set) var headers: HTTPHeaders = [:]
    private(set) var delay = Duration.zero
    private(set) var body: [UInt8]

    private static let mostBytes = 64 << 20
    private static let longestDelay = 86_400.0

    /// Reads a file.
    ///
    /// - Throws: `network.mock`, located by the file and the line.
    init(_ path: String) throws(BackplaneError) {
        try self.init(try SubstituteFile.read(path, as: "mock", upTo: Self.mostBytes), path)
    }

    /// - Parameter path: The path of the file in errors.
    init(_ bytes: [UInt8], _ path: String) throws(BackplaneError) {
        var lines = 0
        body = bytes
        if bytes.starts(with: "HTTP ".utf8) || bytes.starts(with: "HTTP/".utf8) { lines = try readHead(path) }
        guard headers["Content-Type"] == nil, lines == 0 || !body.isEmpty else { return }
        headers.add("Content-Type", "application/json")
        do throws(DocumentError) {
            var reader = JSONReader(
                body, as: DocumentSubject("mock", root: "it is JSON, or begins with a line such as `HTTP 204`"))
            while try reader.next() != nil {}
        } catch {
            let place = error.position.map { ":\($0.line + lines):\($0.column)" } ?? ""
            let advice = "; a mock is JSON unless its head names another `Content-Type`"
            throw BackplaneError(
                .networkMock, "the mock is not JSON: \(error.reason)" + (bytes.isEmpty ? "" : advice),
                at: path + place)
        }
    }

    private mutating func readHead(_ path: String) throws(BackplaneError) -> Int {
        var rest = body[...], number = 0
        func refused(_ words: String, _ found: String) -> BackplaneError {
            BackplaneError(
                .networkMock, "the mock is malformed: expected \(words), found `\(found.prefix(100))`",
                at: "\(path):\(number)")
        }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let hasReturn = rest[..<end].last == UInt8(ascii: "\r")
            let line = String(decoding: rest[..<end].dropLast(hasReturn ? 1 : 0), as: UTF8.self)
            rest = rest[end...].dropFirst()
            number += 1
            if line.isEmpty { break }
            guard number > 1 else {
                let words = line.split(separator: " ")
                guard words.count > 1, let status = Int(words[1]), (200...599).contains(status) else {
                    throw refused("`HTTP` and a status from 200 to 599, such as `HTTP 404`", line)
                }
                self.status = status
                continue
            }
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(\.isTokenCharacter),
                parts[1].utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") })
            else { throw refused("a field, `Name: value`, or an empty line before the body", line) }
            switch parts[0].lowercased() {
            case "delay":
                guard let seconds = Double(parts[1].trimmingBlanks), (0...Self.longestDelay).contains(seconds) else {
                    throw refused("a delay in seconds, such as `Delay: 0.5`", line)
                }
                delay = .seconds(seconds)
            case let name where HTTPHeaders.ofFraming.contains(name): break  // of a response that was pasted
            default: headers.add(parts[0], parts[1])
            }
        }
        body = Array(rest)
        return number
    }

    func response(to request: HTTPRequest) -> HTTPStreamedResponse {
        .substituted(status, headers, body, by: .mock, for: request)
    }
}

/// The access to files with responses.
enum SubstituteFile {
    /// Returns the contents of a regular file.
    ///
    /// - Parameter noun: The name of the file in errors.
    static func read(_ path: String, as noun: String, upTo limit: Int) throws(BackplaneError) -> [UInt8] {
        func unreadable(_ why: String) -> BackplaneError {
            BackplaneError(.networkMock, "the \(noun) cannot be read: \(why)", at: path)
        }
        var status = stat()
        // The system would end the path at a zero byte.
        guard !path.utf8.contains(0), stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw unreadable(String(cString: strerror(path.utf8.contains(0) ? EINVAL : errno)))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable("expected a regular file") }
        guard status.st_size <= limit else {
            throw unreadable("it has \(status.st_size) bytes; expected at most \(limit >> 20) MB")
        }
        guard let data = FileManager.default.contents(atPath: path) else { throw unreadable("reading failed") }
        return Array(data)
    }
}

extension HTTPStreamedResponse {
    /// Returns a response that was not received from a server, with the length of its body.
    static func substituted(
        _ status: Int, _ headers: HTTPHeaders, _ body: [UInt8], by source: ResponseSource, for request: HTTPRequest
    ) -> HTTPStreamedResponse {
        var response = HTTPStreamedResponse(HTTPResponse(status: status, headers: headers))
        response.source = source
        guard status != 204, status != 304 else { return response }
        response.headers["Content-Length"] = String(body.count)
        if request.method != "HEAD" { response.body = HTTPBodyStream(body) }
        return response
    }
}
