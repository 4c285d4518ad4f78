import Testing

/// `--environment` and `$BACKPLANE_ENVIRONMENT`: which of a manifest's environments a command uses.
@Suite(.timeLimit(.minutes(5)))
struct EnvironmentTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func check(_ options: String..., variables: [String: String] = [:]) async throws -> [Substring] {
        let path = try tool.write(
            """
            {"manifestVersion": 1, "plugins": [], "managers": {},
             "environments": {"test": {"managers": {"Test": {"className": "${CLASS}"}}}, "production": {"managers": {"Production": {"className": "Printer"}}}}}
            """, as: "m.json")
        let tool = try RunningTool(
            ["check", path] + options + ["--data", tool.data, "--load-folder", tool.loads], input: nil,
            environment: variables)
        return await tool.end().output.split(separator: "\n").map { $0.dropFirst(path.count) }
    }

    @Test func `the option chooses one, before the variable, and none when it is empty`() async throws {
        let test =
            ":2:50: error: /environments/test/managers/Test/className: the variable `CLASS` is not set; set it, or write `${CLASS:-default}` [manifest.unset-variable]"
        #expect(try await check().first == ": no problems")
        #expect(try await check("--environment", "test").first == test[...])
        #expect(try await check(variables: ["BACKPLANE_ENVIRONMENT": "test"]).first == test[...])
        #expect(try await check(variables: ["BACKPLANE_ENVIRONMENT": ""]).first == ": no problems")
        #expect(
            try await check("--environment=production", variables: ["BACKPLANE_ENVIRONMENT": "test"]).first?.contains(
                "no plugin registers a class `Printer`") == true)
        #expect(
            try await check("--environment", "", variables: ["BACKPLANE_ENVIRONMENT": "test"]).first == ": no problems")
    }
}
