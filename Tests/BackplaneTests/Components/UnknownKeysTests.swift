import FoundationEssentials
import Testing

@testable import Backplane

@Suite struct UnknownKeysTests {
    struct Settings: Decodable, Equatable {
        struct Cache: Decodable, Equatable {
            var keep: Int?
        }
        var name: String
        var cache: Cache?
        var since: Date?
        var limits: [String: Int]?
        var tags: [String]?
        var caches: [Cache]?
        var named: [String: Cache]?
        var days: [Date]?
    }

    private func decode(_ json: String) throws(BackplaneError) -> KnownAndUnknown<Settings> {
        try JSON.decode(KnownAndUnknown<Settings>.self, Array(json.utf8), failing: .configurationInvalid)
    }

    @Test func `keys that the type does not know are named by their paths`() throws {
        let found = try decode(#"{"name": "A", "nmae": "B", "cache": {"keep": 5, "keeep": 6}}"#)
        #expect(found.value == Settings(name: "A", cache: .init(keep: 5)))
        #expect(found.unknownKeys == ["/nmae", "/cache/keeep"])
    }

    @Test func `keys in lists and dictionaries are named too`() throws {
        let found = try decode(
            #"{"name": "A", "caches": [{"keep": 1}, {"kep": 2}], "named": {"x": {"keep": 3, "kept": 4}}}"#)
        #expect(found.value == Settings(name: "A", caches: [.init(keep: 1), .init()], named: ["x": .init(keep: 3)]))
        #expect(found.unknownKeys.sorted() == ["/caches/1/kep", "/named/x/kept"])
        let steps = try decode(#"{"name": "A", "text/plain": 1, "named": {"a/b~c": {"kept": 4}}}"#)
        #expect(steps.unknownKeys.sorted() == ["/named/a~1b~0c/kept", "/text~1plain"])
    }

    @Test func `everything that is known is decoded as ever`() throws {
        let found = try decode(
            #"{"name": "A", "cache": null, "since": 86400, "limits": {"any": 1, "thing": 2}, "tags": ["x"], "days": [0]}"#
        )
        #expect(
            found.value
                == Settings(
                    name: "A", since: Date(timeIntervalSinceReferenceDate: 86_400), limits: ["any": 1, "thing": 2],
                    tags: ["x"],
                    days: [Date(timeIntervalSinceReferenceDate: 0)]))
        #expect(found.unknownKeys == [])
    }

    @Test(arguments: [
        (#"{}"#, "/name"), (#"{"name": 3}"#, "/name"), (#"{"name": "A", "cache": {"keep": "x"}}"#, "/cache/keep"),
        (#"{"name": "A", "cache": 1}"#, "/cache"),
        (#"{"name": "A", "caches": [{}, {"keep": "x"}]}"#, "/caches/1/keep"),
        (#"{"name": "A", "tags": ["x", 1]}"#, "/tags/1"),
    ])
    func `a wrong value is an error at its path`(json: String, path: String) {
        let error = #expect(throws: BackplaneError.self) { try decode(json) }
        #expect(error?.location == path)
    }
}
