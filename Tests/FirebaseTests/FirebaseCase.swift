import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Testing

/// A row of the table of cases, which the stand-in and a real emulator suite have to meet alike.
struct FirebaseCase: Sendable, CustomTestStringConvertible {
    var name: String
    var run: @Sendable (FirebaseHost) async throws -> Void
    var testDescription: String { name }

    init(_ name: String, _ run: @escaping @Sendable (FirebaseHost) async throws -> Void) {
        (self.name, self.run) = (name, run)
    }

    static let all = database + events + accounts + storage

    // MARK: The Realtime Database

    private static var database: [FirebaseCase] {
        [
            FirebaseCase("a value is written, changed, read and removed") { firebase in
                let loan: DocumentValue = ["book": "moby-dick", "days": 21]
                let written = try await firebase.load("PUT", "loans/1", loan)
                #expect(written == loan)
                #expect(try await firebase.load("PATCH", "loans/1", ["days": 7]) == ["days": 7])
                #expect(try await firebase.load("GET", "loans/1") == ["book": "moby-dick", "days": 7])
                #expect(try await firebase.load("GET", "loans/1/days") == 7)
                #expect(try await firebase.load("DELETE", "loans/1") == .null)
                #expect(try await firebase.load("GET", "loans/1") == .null)
            },
            FirebaseCase("POST returns the name of the new child") { firebase in
                let post = Endpoint<String>("POST", "log", body: .bytes(Array(#""lent""#.utf8)))
                let first = try await firebase.database.load(post, firebase.call)
                let second = try await firebase.database.load(post, firebase.call)
                #expect(first != second && first.hasPrefix("-"))
                #expect(try await firebase.load("GET", "log/\(first)") == "lent")
            },
            FirebaseCase("the values of filters are JSON, whether or not they are written so") { firebase in
                try await firebase.load("PUT", "books", ["a": 1, "b": 2, "c": ["deep": true], "d": 4])
                func keys(_ query: KeyValuePairs<String, String?>) async throws -> [String] {
                    guard case .dictionary(let members) = try await firebase.load("GET", "books", query: query) else {
                        return []
                    }
                    return members.keys.sorted()
                }
                #expect(try await keys(["orderBy": "$key", "startAt": "b"]) == ["b", "c", "d"])
                #expect(try await keys(["orderBy": "\"$key\"", "endAt": "\"b\""]) == ["a", "b"])
                #expect(try await keys(["orderBy": "$key", "equalTo": "c"]) == ["c"])
                #expect(try await keys(["orderBy": "$key", "limitToFirst": "2"]) == ["a", "b"])
                #expect(try await keys(["orderBy": "$key", "limitToLast": "1"]) == ["d"])
                #expect(
                    try await firebase.load("GET", "books", query: ["shallow": "true"]) == [
                        "a": true, "b": true, "c": true, "d": true,
                    ])
                let refused = await firebase.failure { try await keys(["startAt": "b"]) }
                #expect(refused?.networkNumber == 7 && refused?.httpStatus == 400)
                #expect(
                    refused?.failure?.code == "firebase.refused"
                        && refused?.message.hasPrefix("orderBy must be defined") == true)
            },
            FirebaseCase("a conditional write that comes too late learns of the current value") { firebase in
                try await firebase.load("PUT", "loan", "ann", headers: ["If-Match": "null_etag"])
                let read = Endpoint<String>("GET", "loan", headers: ["X-Firebase-ETag": "true"])
                let tag = try #require(
                    try await firebase.database.loadWithResponse(read, firebase.call).response.headers["ETag"])
                try await firebase.load("PUT", "loan", "bob", headers: ["If-Match": tag])
                let late = await firebase.failure {
                    try await firebase.load("PUT", "loan", "eve", headers: ["If-Match": tag])
                }
                #expect(late?.code == .networkConflict && late?.networkNumber == 28 && late?.httpStatus == 412)
                #expect(late?.httpBody.map { String(decoding: $0, as: UTF8.self) } == #""bob""#)
                let next = try #require(late?.failure?.details["etag"])
                try await firebase.load("DELETE", "loan", headers: ["If-Match": next])
                #expect(try await firebase.load("GET", "loan") == .null)
            },
            FirebaseCase("what the rules forbid is denied with the words of the service") { firebase in
                let denied = await firebase.failure { try await firebase.load("GET", "firebase://library/forbidden") }
                #expect(denied?.code == .networkStatus && denied?.networkNumber == 7 && denied?.httpStatus == 403)
                #expect(denied?.failure?.code == "firebase.permission-denied" && denied?.message == "Permission denied")
            },
            FirebaseCase("nothing is null, and not an error unless a value is expected") { firebase in
                struct Loan: Decodable, Sendable {
                    var book: String
                }
                let none = try await firebase.database.load(Endpoint<Loan?>("GET", "nothing"), firebase.call)
                #expect(none == nil)
                let error = await firebase.failure {
                    try await firebase.database.load(Endpoint<Loan>("GET", "nothing"), firebase.call)
                }
                #expect(error?.code == .networkUnparsable && error?.networkNumber == 2)
                try await firebase.load("PUT", "loan", ["book": "emma", "note": .null])
                #expect(try await firebase.load("GET", "loan") == ["book": "emma"])
            },
        ]
    }

    // MARK: Events

    private static var events: [FirebaseCase] {
        [
            FirebaseCase("the events of a path are its value after each change") { firebase in
                try await firebase.load("PUT", "loans", ["a": ["days": 1]])
                try await firebase.following("loans") { values, _ in
                    #expect(try await values.first(1)[0] == ["a": ["days": 1]])
                    try await firebase.load("PUT", "loans/b", ["days": 2])
                    #expect(try await values.first(2)[1] == ["a": ["days": 1], "b": ["days": 2]])
                    try await firebase.load("PATCH", "loans/a", ["days": 3, "book": "emma"])
                    #expect(try await values.first(3)[2] == ["a": ["book": "emma", "days": 3], "b": ["days": 2]])
                    try await firebase.load("DELETE", "loans/a")
                    #expect(try await values.first(4)[3] == ["b": ["days": 2]])
                    try await firebase.load("DELETE", "loans")
                    #expect(try await values.first(5)[4] == .null)
                }
            },
            FirebaseCase("the events of a path that may not be read end with the refusal") { firebase in
                let denied = await firebase.failure {
                    for try await _ in firebase.events(of: "firebase://library/forbidden") {}
                }
                #expect(denied?.httpStatus == 403 && denied?.failure?.code == "firebase.permission-denied")
            },
        ]
    }

    // MARK: Accounts

    private static var accounts: [FirebaseCase] {
        [
            FirebaseCase("a user signs up, signs out, and signs in by e-mail and password") { firebase in
                let login = ["email": "\(firebase.part)@example.org", "password": "white whale"],
                    http = firebase.context.http
                let path = "firebase://library/private/\(firebase.part)"
                try await http.signIn("new", as: "ann", with: login, firebase.call)
                try await firebase.load("PUT", path, 1, as: "new", "ann")
                let taken = await firebase.failure {
                    try await http.signIn("new", as: "bob", with: login, firebase.call)
                }
                #expect(taken?.code == .networkSignIn && taken?.networkNumber == 23 && taken?.httpStatus == 400)
                #expect(taken?.message.contains("EMAIL_EXISTS") == true)
                try http.signOut("new", account: "ann")
                let out = await firebase.failure { try await firebase.load("GET", path, as: "new", "ann") }
                #expect(out?.code == .networkCredential)
                let denied = await firebase.failure { try await firebase.load("GET", path) }
                #expect(denied?.failure?.code == "firebase.permission-denied")
                try await http.signIn("password", as: "ann", with: login, firebase.call)
                #expect(try await firebase.load("GET", path, as: "password", "ann") == 1)
                let wrong = ["email": login["email"]!, "password": "black whale"]
                let refused = await firebase.failure {
                    try await http.signIn("password", as: "eve", with: wrong, firebase.call)
                }
                #expect(refused?.code == .networkSignIn && refused?.message.contains("INVALID_") == true)
            },
            FirebaseCase("a user without a name signs in when needed") { firebase in
                try await firebase.load("PUT", "firebase://library/private/\(firebase.part)", 1, as: "anonymous")
                let object = try await firebase.upload([1, 2, 3], to: "private/\(firebase.part)", as: "anonymous")
                #expect(object["size"] == "3")
            },
            FirebaseCase("the token of a server of one's own is exchanged") { firebase in
                let token = #"{"uid":"\#(firebase.part)"}"#
                try await firebase.context.http.signIn("custom", as: "ann", with: ["token": token], firebase.call)
                try await firebase.load("PUT", "firebase://library/users/\(firebase.part)", 1, as: "custom", "ann")
                let other = await firebase.failure {
                    try await firebase.load("PUT", "firebase://library/users/other", 1, as: "custom", "ann")
                }
                #expect(other?.failure?.code == "firebase.permission-denied")
            },
        ]
    }

    // MARK: Cloud Storage

    private static var storage: [FirebaseCase] {
        [
            FirebaseCase("an object is uploaded, read in parts, described, changed and deleted") { firebase in
                let name = "\(firebase.part)/moby dick.txt", url = "\(firebase.part)/moby%20dick.txt"
                let bytes = Array("Call me Ishmael.".utf8)
                let object = try await firebase.upload(bytes, to: url, type: "text/plain")
                #expect(
                    object["name"] == .string(name) && object["size"] == "16" && object["contentType"] == "text/plain")
                let bucket = firebase.bucket, call = firebase.call
                #expect(try await bucket.load(Endpoint<[UInt8]>("GET", url), call) == bytes)
                let part = Endpoint<String>("GET", url, headers: ["Range": "bytes=8-14"])
                let (text, response) = try await bucket.loadWithResponse(part, call)
                #expect(text == "Ishmael" && response.status == 206)
                let patch = Endpoint<DocumentValue>("PATCH", url, body: try .json(["contentType": "text/markdown"]))
                #expect(try await bucket.load(patch, call)["contentType"] == "text/markdown")
                let described = Endpoint<DocumentValue>("GET", url, query: ["alt": "json"])
                #expect(try await bucket.load(described, call)["contentType"] == "text/markdown")
                _ = try await bucket.load(Endpoint<Nothing>("DELETE", url), call)
                let gone = await firebase.failure { try await bucket.load(Endpoint<[UInt8]>("GET", url), call) }
                #expect(
                    gone?.networkNumber == 7 && gone?.httpStatus == 404 && gone?.failure?.code == "firebase.not-found")
            },
            FirebaseCase("objects are listed in pages") { firebase in
                struct Page: Decodable, Sendable {
                    struct Item: Decodable, Sendable {
                        var name: String
                    }
                    var items: [Item]
                    var nextPageToken: String?
                }
                for number in 1...5 { _ = try await firebase.upload([1], to: "\(firebase.part)/\(number)") }
                let list = Endpoint<Page>("GET", "\(firebase.part)/", query: ["maxResults": "2"])
                let pages = firebase.bucket.pages(list, firebase.call, next: .cursor("pageToken") { $0.nextPageToken })
                let names = try await pages.reduce(into: []) { $0.append($1.items.map(\.name)) }
                #expect(names == [[1, 2], [3, 4], [5]].map { $0.map { "\(firebase.part)/\($0)" } })
            },
            FirebaseCase("an object in many pieces arrives whole, an empty one too") { firebase in
                let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
                let large = try await firebase.upload(bytes, to: "\(firebase.part)/large")
                #expect(large["size"] == "3000000")
                #expect(try await firebase.upload([], to: "\(firebase.part)/empty")["size"] == "0")
                let whole = Array(bytes.prefix(2 << 20))  // of whole pieces
                #expect(try await firebase.upload(whole, to: "\(firebase.part)/whole")["size"] == "2097152")
                let read = Endpoint<[UInt8]>("GET", "\(firebase.part)/large")
                #expect(try await firebase.bucket.load(read, firebase.call) == bytes)
            },
            FirebaseCase("rules protect objects") { firebase in
                let denied = await firebase.failure { try await firebase.upload([1], to: "forbidden/whale") }
                #expect(denied?.httpStatus == 403 && denied?.failure?.code == "firebase.permission-denied")
                #expect(denied?.message.hasPrefix("Permission denied") == true)
            },
        ]
    }
}

extension DocumentValue {
    subscript(key: String) -> DocumentValue? {
        guard case .dictionary(let members) = self else { return nil }
        return members[key]
    }
}
