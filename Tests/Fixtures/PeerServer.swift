import Foundation

/// A server by other authors, in a process that ends with the test.
///
/// Tests are skipped if the server is missing. With `BACKPLANE_REQUIRE_PEERS=1` in the environment, a missing server is
/// a failure.
package struct PeerServer: Sendable {
    /// The reason why there is no server.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }
    /// The ports on which the server listens.
    package let ports: [String]
    /// The folder of the server's files.
    package let folder: String

    /// Returns whether programs are installed or required.
    package static func isThere(_ programs: String...) -> Bool {
        ProcessInfo.processInfo.environment["BACKPLANE_REQUIRE_PEERS"] == "1" || programs.allSatisfy { path($0) != nil }
    }

    private static func path(_ program: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/usr/local/sbin"]).map { "\($0)/\(program)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The beginning of a Python script, with functions for ending it.
    ///
    /// `wait_for_end(folder)` returns once the test or its process has ended. `end_with_starter` ends a child process
    /// with the script. The end of the input alone does not suffice, because another child of this process may have
    /// inherited the other end of the pipe. The script unblocks signals, because it inherits the signals that Swift's
    /// threads block, including the signal that ends its server.
    package static var waiting: String {
        """
        import os, select, signal, sys
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        parent, process = os.getppid(), "/proc/\(ProcessInfo.processInfo.processIdentifier)"
        def wait_for_end(folder):
            while os.getppid() == parent and os.path.exists(process) and os.path.isdir(folder):
                if select.select([sys.stdin], [], [], 0.5)[0]: return
        try:
            import ctypes
            prctl = ctypes.CDLL(None).prctl
        except Exception: prctl = None
        def end_with_starter():
            if prctl: prctl(1, 15)  # PR_SET_PDEATHSIG, SIGTERM

        """
    }

    /// Runs a script in Python that starts a server, writes its ports to a file, and ends after ``waiting``.
    ///
    /// The ports are written to a file, because reading a process's output would occupy a thread of Swift's pool.
    package static func with(
        _ script: String, arguments: [String] = [], prepare: (_ folder: String) throws -> Void = { _ in },
        _ body: (PeerServer) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "peer-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder + "/files", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try prepare(folder)
        let process = Process(), input = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", waiting + script, folder] + arguments
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { try? input.fileHandleForWriting.close() }
        var ports: String?
        for _ in 0..<6_000 where ports == nil && process.isRunning {
            try await Task.sleep(for: .milliseconds(10))
            ports = try? String(contentsOfFile: folder + "/ports", encoding: .utf8)
        }
        guard let found = ports else { throw Missing(description: "the server did not start") }
        try await body(PeerServer(ports: found.split(separator: " ").map(String.init), folder: folder + "/files"))
    }

    // MARK: nginx

    /// Runs nginx with a configuration in which `FOLDER` stands for a folder, and `PORT0` to `PORT2` for free ports.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, which names the file `FOLDER/nginx.pid`.
    ///   - prepare: A function that writes further files of the configuration to the folder; served files are in
    ///     `files`.
    package static func withNginx(
        configuration: String, prepare: (_ folder: String) throws -> Void = { _ in },
        _ body: (PeerServer) async throws -> Void
    ) async throws {
        guard let program = path("nginx") else { throw Missing(description: "nginx is not installed") }
        try await with(nginxScript, arguments: [program]) { folder in
            try prepare(folder)
            try Data(configuration.replacing("FOLDER", with: folder).utf8)
                .write(to: URL(filePath: folder + "/nginx.template"))
        } _: {
            try await body($0)
        }
    }

    /// A script that chooses free ports and starts nginx.
    ///
    /// nginx cannot listen on a port that the system chooses, so another program may take a port meanwhile. nginx
    /// writes its process id once it listens on all ports.
    private static let nginxScript = """
        import os, socket, subprocess, sys, time
        folder, program = sys.argv[1:3]
        with open(folder + "/nginx.template") as file: template = file.read()
        for attempt in range(20):
            sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
            ports = [str(one.getsockname()[1]) for one in sockets]
            for one in sockets: one.close()
            text = template
            for number, port in enumerate(ports): text = text.replace("PORT%d" % number, port)
            with open(folder + "/nginx.conf", "w") as file: file.write(text)
            server = subprocess.Popen(
                [program, "-p", folder, "-c", folder + "/nginx.conf"], stdin=subprocess.DEVNULL,
                preexec_fn=end_with_starter)
            while server.poll() is None and not os.path.exists(folder + "/nginx.pid"): time.sleep(0.01)
            if server.poll() is None: break
        else: sys.exit(1)
        with open(folder + "/ports.new", "w") as file: file.write(" ".join(ports))
        os.rename(folder + "/ports.new", folder + "/ports")
        wait_for_end(folder)
        server.terminate()
        server.wait()
        """
}
