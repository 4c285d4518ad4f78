import Testing

@testable import BackplaneTools

/// What a session remembers of libraries that change while the application is asked to swap them.
@Suite(.timeLimit(.minutes(2)))
struct DevLibrariesTests {
    private let observed: Observed
    private var path: String { observed.path("libA.so") }

    init() throws { observed = try Observed() }

    @Test func `a library that was replaced before it was loaded is not reported as unchanged afterwards`() throws {
        var libraries = DevLibraries()
        try observed.write("one", to: "libA.so")
        let isFirstNew = libraries.isNew(path, ProductStamp(library: path))
        libraries.areAsked([path])
        try observed.write("the second", to: "libA.so")
        // The change is noticed before the answer, which is about the second one already.
        let isSecondNew = libraries.isNew(path, ProductStamp(library: path))
        libraries.areSwapped([path])
        libraries.areAsked([path])
        let taken = libraries.areTaken([path])
        #expect(isFirstNew && isSecondNew && !taken.isNews)
    }

    @Test func `a library that is saved again as it was is reported`() throws {
        var libraries = DevLibraries()
        try observed.write("one", to: "libA.so")
        let isNew = libraries.isNew(path, ProductStamp(library: path))
        libraries.areAsked([path])
        libraries.areSwapped([path])
        libraries.areAsked([path])
        let taken = libraries.areTaken([path])
        #expect(isNew && taken.isNews)
    }
}
