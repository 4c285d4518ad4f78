import BackplaneConformance
import Foundation
import Testing

/// A server that others wrote, as a process that ends with the test.
///
/// The tests are skipped where a server is missing. With `BACKPLANE_REQUIRE_PEERS=1` in the environment a missing
/// server is a failure.
struct PeerServer {
    /// The ports that the server listens on.
    let ports: [String]
    /// The folder that the server's files are in.
    let folder: String

    /// Returns whether a program is installed, or has to be.
    static func isThere(_ programs: String...) -> Bool {
        ProcessInfo.processInfo.environment["BACKPLANE_REQUIRE_PEERS"] == "1" || programs.allSatisfy { path($0) != nil }
    }

    private static func path(_ program: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/usr/local/sbin"]).map { "\($0)/\(program)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a script in Python that starts a server, writes its ports to a file, and ends with its input.
    ///
    /// The ports go to a file, since reading what a process prints would occupy a thread of Swift's pool.
    private static func with(
        _ script: String, arguments: [String] = [], prepare: (_ folder: String) throws -> Void = { _ in },
        _ body: (PeerServer) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "peer-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder + "/files", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try prepare(folder)
        let process = Process(), input = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, folder] + arguments
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { try? input.fileHandleForWriting.close() }
        var ports: String?
        for _ in 0..<3_000 where ports == nil && process.isRunning {
            try await Task.sleep(for: .milliseconds(10))
            ports = try? String(contentsOfFile: folder + "/ports", encoding: .utf8)
        }
        let found = try #require(ports, "the server did not start")
        try await body(PeerServer(ports: found.split(separator: " ").map(String.init), folder: folder + "/files"))
    }

    // MARK: Python's http.server

    /// Runs Python's `http.server` on a folder.
    static func withPython(_ body: (PeerServer) async throws -> Void) async throws {
        try await with(
            """
            import functools, http.server, os, sys, threading
            folder = sys.argv[1]
            handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder + "/files")
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
            with open(folder + "/ports.new", "w") as file: file.write(str(server.server_port))
            os.rename(folder + "/ports.new", folder + "/ports")
            threading.Thread(target=server.serve_forever, daemon=True).start()
            sys.stdin.read()
            os._exit(0)
            """, body)
    }

    #if Engines
    // MARK: nginx

    /// Runs nginx on a folder: on the first port with HTTP/1.1, on the second with HTTP/2 and TLS, on the third with
    /// HTTP/1.1 and TLS.
    static func withNginx(
        _ identity: CertificateAuthority.Identity, _ body: (PeerServer) async throws -> Void
    ) async throws {
        let program = try #require(path("nginx"), "nginx is not installed")
        try await with(nginxScript, arguments: [program]) { folder in
            try Data(identity.certificate.utf8).write(to: URL(filePath: folder + "/certificate.pem"))
            try Data(identity.key.utf8).write(to: URL(filePath: folder + "/key.pem"))
            try Data(configuration.replacing("FOLDER", with: folder).utf8)
                .write(to: URL(filePath: folder + "/nginx.template"))
        } _: {
            try await body($0)
        }
    }

    /// nginx takes no port that the system chooses, so that another program may take one meanwhile.
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
                [program, "-p", folder, "-c", folder + "/nginx.conf"], stdin=subprocess.DEVNULL)
            while server.poll() is None:
                try: socket.create_connection(("127.0.0.1", int(ports[0]))).close()
                except OSError: time.sleep(0.01)
                else: break
            if server.poll() is None: break
        else: sys.exit(1)
        with open(folder + "/ports.new", "w") as file: file.write(" ".join(ports))
        os.rename(folder + "/ports.new", folder + "/ports")
        sys.stdin.read()
        server.terminate()
        server.wait()
        """

    private static let configuration = """
        daemon off; master_process off; pid FOLDER/nginx.pid; error_log FOLDER/error.log;
        events { worker_connections 256; }
        http {
            access_log off; default_type text/plain; root FOLDER/files;
            client_body_temp_path FOLDER/t1; proxy_temp_path FOLDER/t2; fastcgi_temp_path FOLDER/t3;
            uwsgi_temp_path FOLDER/t4; scgi_temp_path FOLDER/t5;
            client_max_body_size 10m; gzip on; gzip_types *;
            ssl_certificate FOLDER/certificate.pem; ssl_certificate_key FOLDER/key.pem;
            server { listen 127.0.0.1:PORT0; keepalive_requests 10; \(locations) }
            server { listen 127.0.0.1:PORT1 ssl http2; keepalive_requests 100; \(locations) }
            server { listen 127.0.0.1:PORT2 ssl; keepalive_requests 10; \(locations) }
        }
        """

    private static let locations = """
        location / { dav_methods PUT DELETE; }
        location = /hello { return 200 "$request_method $server_protocol $http_x_reader"; }
        location = /moved { return 302 /hello; }
        location = /closed { return 444; }
        """
    #endif
}
