import Foundation

/// A host that stays, `backplane run`, and what is said to it over its control socket.
final class RunningHost: Sendable {
    let process: HostProcess
    let socket: String

    /// Starts a host; it may not be up yet.
    init(_ manifest: String, _ options: [String], in folder: String) throws {
        process = try HostProcess(
            ["run", manifest, "--load-folder", folder + "/loads"] + options, in: folder)
        socket = "\(folder)/backplane/host-\(process.id).sock"
    }

    func isUp(atMost limit: Double = HostProcess.patience) -> Bool { process.says("up;", atMost: limit) }

    /// Sends a request and waits for the answer.
    ///
    /// - Returns: The last line of the answer, or `nil` where there is none in time.
    func ask(_ request: [String: Any], atMost limit: Double = HostProcess.patience) -> String? {
        guard let line = try? JSONSerialization.data(withJSONObject: request) else { return nil }
        return ask(Array(line), atMost: limit)
    }

    func ask(_ line: [UInt8], atMost limit: Double = HostProcess.patience) -> String? {
        guard let connection = Connection(to: socket, patience: limit), connection.send(line + [0x0A]) else {
            return nil
        }
        return connection.answer()
    }

    /// Calls a method of a manager; `nil` where it was not answered with a result.
    func call(
        _ manager: String, _ method: String, _ input: String = "null", atMost limit: Double = HostProcess.patience
    )
        -> String?
    {
        let request = ["request": "call", "manager": manager, "method": method, "input": input]
        return ask(request, atMost: limit).flatMap(Self.output)
    }

    /// The output in the answer to a call; `nil` where it is no result.
    static func output(of answer: String) -> String? {
        let fields = try? JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
        return (fields?["result"] as? [String: Any])?["output"] as? String
    }
}
