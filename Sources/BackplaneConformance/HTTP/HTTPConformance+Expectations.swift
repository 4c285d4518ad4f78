import Backplane

extension HTTPConformance {
    /// A violation of a rule.
    struct Unmet: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// Checks that two values are equal.
    static func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
        if found != expected {
            throw Unmet("\(what): expected \("\(expected)".prefix(200)), found \("\(found)".prefix(200))")
        }
    }

    /// Checks that a condition holds.
    static func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw Unmet(what()) }
    }

    /// Returns the error that a step is required to throw.
    static func failure<Value>(_ what: String, _ step: () async throws -> Value) async throws -> BackplaneError {
        do {
            _ = try await step()
        } catch let error as BackplaneError {
            return error
        } catch {
            throw Unmet("\(what): expected a BackplaneError, found \(type(of: error)): \(error)")
        }
        throw Unmet("\(what): expected an error, found a response")
    }

    /// Waits for a condition.
    static func eventually(_ what: String, _ condition: () -> Bool) async throws {
        for _ in 0..<5_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Unmet(what)
    }
}

extension [UInt8] {
    /// Returns bytes that repeat with a period that differs from the size of any buffer.
    static func pattern(count: Int) -> [UInt8] {
        var bytes = [UInt8](0...250)
        while bytes.count < count { bytes += bytes }
        return Array(bytes.prefix(count))
    }
}
