import Testing

@testable import Backplane
@testable import BackplaneHost

/// The JSON text about a class, from a component in Swift to its host.
struct AnnotationTests {
    final class Annotated: Manager {
        static var annotation: String? { #"{"colour": "grün"}"# }
        init(_ context: Context) {}
    }
    final class Silent: Manager {
        init(_ context: Context) {}
    }
    final class Malformed: Manager {
        static var annotation: String? { "{" }
        init(_ context: Context) {}
    }

    @Test func `a host reads it without an instance`() throws {
        #expect(try ComponentClass.registered(Annotated.self).description.annotation == #"{"colour": "grün"}"#)
        #expect(try ComponentClass.registered(Silent.self).description.annotation == nil)
    }

    @Test func `one that is not JSON is a mistake of the plugin`() {
        let error = #expect(throws: BackplaneError.self) { try ComponentClass.registered(Malformed.self) }
        #expect(error?.code == .pluginInvalidAnswer)
        #expect(error?.message.hasPrefix("Malformed's annotation cannot be read as JSON: line 1, column 2") == true)
    }
}
