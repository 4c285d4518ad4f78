/// The files of a plugin that serves HTTP.
struct RoutesText {
    var name: String
    var manager: String { name + "Routes" }

    /// The address in the manifest.
    private static let address = "127.0.0.1:8080"
    static let url = "http://\(address)"

    var manifest: String {
        """
        {
          "manifestVersion": 1,
          "plugins": ["\(name)"],
          "server": { "listen": "\(Self.address)", "health": "/healthz" },
          "managers": { "\(manager)": {} }
        }

        """
    }

    /// The source of the manager.
    var routes: String {
        """
        import Backplane
        import BackplaneRoutes
        import Synchronization

        /// A manager that serves HTTP: notes as JSON, and a page that shows them.
        ///
        /// Its state consists of the notes, which a swap carries over to the new code.
        final class \(manager): RouteManager, StatefulComponent {
            struct Note: Codable, Sendable {
                var text: String
            }
            private let notes = Mutex<[Note]>([])
            private let resources: Resources

            init(_ context: Context) {
                resources = context.resources
            }

            func exportState() -> [Note] { notes.withLock(\\.self) }
            func importState(_ state: [Note]) { notes.withLock { $0 = state } }

            static func routes(_ routes: inout Routes<\(manager)>) {
                routes.get("/") { me, _, _ in RouteResponse.file(try me.resources.path("page.html")) }
                routes.get("/notes") { me, _, _ in me.notes.withLock(\\.self) }
                routes.post("/notes") { me, request, _ in try me.add(request.body(as: Note.self)) }
            }

            private func add(_ note: Note) throws -> RouteResponse {
                guard !note.text.isEmpty else { throw RouteProblem(400, fields: ["text": "expected a text"]) }
                notes.withLock { $0.append(note) }
                return try .json(note, status: 201)
            }
        }

        """
    }

    /// The page, a resource of the plugin.
    var page: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <title>\(name)</title>
        <h1>\(name)</h1>
        <ul></ul>
        <form><input name="text" required autofocus> <button>Add</button></form>
        <script>
          async function show() {
            const notes = await (await fetch("/notes")).json();
            document.querySelector("ul").replaceChildren(...notes.map(note => {
              const item = document.createElement("li");
              item.textContent = note.text;
              return item;
            }));
          }
          document.querySelector("form").onsubmit = async event => {
            event.preventDefault();
            const note = JSON.stringify({ text: new FormData(event.target).get("text") });
            await fetch("/notes", { method: "POST", headers: { "Content-Type": "application/json" }, body: note });
            event.target.reset();
            show();
          };
          show();
        </script>
        <!-- `backplane dev` serves this script, which reloads the page once new code is active. -->
        <script src="/backplane/reload.js"></script>
        </html>

        """
    }

    /// The source of tests that call the handlers without a server.
    var tests: String {
        """
        import Backplane
        import BackplaneRoutes
        import BackplaneTestKit
        import Testing
        @testable import \(name)

        @Suite(.timeLimit(.minutes(2)))
        struct \(manager)Tests {
            /// Returns the status and the body of the answer to a request.
            private func answer(_ host: TestHost, _ route: String, _ body: String? = nil) async throws -> String {
                let routes = try await host.manager("\(manager)", as: HTTPRoutes.self)
                let answer = try await routes.answer(RouteRequest(route, body: body.map { Array($0.utf8) }))
                return "\\(answer.status) \\(String(decoding: answer.body, as: UTF8.self))"
            }

            @Test func `a note is added, and listed`() async throws {
                try await TestHost.run("\(manager)", plugins: [\(name)Plugin.self]) { host in
                    let added = try await answer(host, "POST /notes", #"{"text":"High tide"}"#)
                    #expect(added == #"201 {"text":"High tide"}"#)
                    let listed = try await answer(host, "GET /notes")
                    #expect(listed == #"200 [{"text":"High tide"}]"#)
                }
            }

            @Test(arguments: ["{}", #"{"text":""}"#, #"{"text":1}"#])
            func `a problem names the field`(body: String) async throws {
                try await TestHost.run("\(manager)", plugins: [\(name)Plugin.self]) { host in
                    let problem = try await answer(host, "POST /notes", body)
                    #expect(problem.hasPrefix("400") && problem.contains(#""fields":{"text":"#))
                }
            }

            @Test func `the page is a file`() async throws {
                try await TestHost.run("\(manager)", plugins: [\(name)Plugin.self]) { host in
                    let routes = try await host.manager("\(manager)", as: HTTPRoutes.self)
                    let page = try await routes.answer(RouteRequest("GET /"))
                    #expect(page.file?.hasSuffix("/page.html") == true)
                }
            }
        }

        """
    }
}
