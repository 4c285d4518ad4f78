import Testing

@testable import BackplaneHost

/// Where the data of renamed data access controllers is, decided without files.
struct DataPlacesTests {
    private func place(
        _ namespace: String, was: String? = nil, of places: DataPlaces = DataPlaces(), with others: Set<String> = [],
        there: Set<String> = []
    ) -> String {
        places.place(of: namespace, was: was, others: others.union([namespace]).contains, exists: there.contains)
    }

    private static let renamed: DataPlaces = {
        var places = DataPlaces()
        places.keep("Old", for: "New")
        return places
    }()

    @Test func `a namespace is its own place`() {
        #expect(place("Own") == "Own")
        #expect(place("Own", there: ["Own"]) == "Own")
        var places = DataPlaces()
        places.keep("Own", for: "Own")
        #expect(places.entries == [], "and that need not be recorded")
    }

    @Test func `a former namespace is continued where it has data and the new one has none`() {
        #expect(place("New", was: "Old", there: ["Old"]) == "Old")
        #expect(place("New", was: "Old") == "New", "there is nothing to continue")
        #expect(place("New", was: "Old", there: ["Old", "New"]) == "New", "it has data of its own")
    }

    @Test func `what was recorded holds without the former name`() {
        #expect(place("New", of: Self.renamed, there: ["Old", "New"]) == "Old")
        #expect(place("New", was: "Older", of: Self.renamed, there: ["Old", "Older"]) == "Old")
    }

    @Test func `a chain of names leads to the first place`() {
        #expect(place("Newer", was: "New", of: Self.renamed, there: ["Old"]) == "Old")
        var places = Self.renamed
        places.keep("Old", for: "Newer")
        #expect(place("Newer", of: places) == "Old")
        #expect(place("New", of: places) == "Old", "when it comes again alone")
        #expect(place("New", of: places, with: ["Newer"]) == "New", "when the other one has its place")
    }

    @Test func `the former name has its place again when it comes alone, and another one beside its successor`() {
        #expect(place("Old", of: Self.renamed, there: ["Old"]) == "Old")
        #expect(place("Old", of: Self.renamed, with: ["New"], there: ["Old"]) == "@Old@2")
        var places = Self.renamed
        places.keep("@Old@2", for: "Old")
        #expect(place("Old", of: places, with: ["New"]) == "@Old@2")
        #expect(place("New", of: places, with: ["Old"]) == "Old")
    }

    @Test func `a new place has a name that no namespace can have`() {
        // A controller that is called Old@2 has its data there.
        #expect(place("Old", of: Self.renamed, with: ["New", "Old@2"], there: ["Old", "Old@2"]) == "@Old@2")
        #expect(place("Old@2", of: Self.renamed, with: ["New", "Old"], there: ["Old", "Old@2"]) == "Old@2")
    }

    @Test func `a place that came back is recorded over the one that took it`() {
        var places = Self.renamed
        places.keep("Old", for: "Old")
        #expect(place("Old", of: places, with: ["New"], there: ["Old"]) == "Old")
        #expect(place("New", of: places, with: ["Old"], there: ["Old"]) == "New")
    }
}
