#if Engines
import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import Foundation
import Glibc
import Testing

/// Client certificates against a server that others wrote: nginx, which verifies them.
///
/// They are skipped where there is no nginx. `BACKPLANE_NGINX` names the program; with `BACKPLANE_REQUIRE_PEERS=1` a
/// missing server is a failure.
@Suite(.timeLimit(.minutes(5)))
struct NginxTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let program: String? =
        ([environment["BACKPLANE_NGINX"]].compactMap(\.self)
        + ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx"])
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    /// Whether the server can be started, or has to be.
    private static let isThere = program != nil || environment["BACKPLANE_REQUIRE_PEERS"] == "1"

    private let servers = CertificateAuthority(name: "Servers")
    private let clients = CertificateAuthority(name: "Clients")

    private func write(_ text: String, as name: String, in folder: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"), options: .atomic)
    }

    private func configuration(_ folder: String, port: UInt16) -> String {
        """
        daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/error.log;
        events { worker_connections 64; }
        http {
          access_log off;
          client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
          uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
          server {
            listen 127.0.0.1:\(port) ssl;
            ssl_certificate \(folder)/server.pem; ssl_certificate_key \(folder)/server.key;
            ssl_client_certificate \(folder)/clients.pem; ssl_verify_client on; ssl_session_cache off;
            location / { return 200 "$ssl_client_s_dn"; }
          }
        }
        """
    }

    /// A port that was free a moment ago.
    private func freePort() throws -> UInt16 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in(), size = socklen_t(MemoryLayout<sockaddr_in>.size)
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        try #require(isBound)
        return UInt16(bigEndian: address.sin_port)
    }

    /// Runs nginx, which ends with its input, and so with this process at the latest.
    private func withServer(_ body: (_ url: String, _ folder: String) async throws -> Void) async throws {
        let program = try #require(Self.program, "there is no nginx")
        let folder = FileManager.default.temporaryDirectory.appending(path: "nginx-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let identity = servers.identity()
        try write(identity.certificate, as: "server.pem", in: folder)
        try write(identity.key, as: "server.key", in: folder)
        try write(clients.certificate, as: "clients.pem", in: folder)
        try write(servers.certificate, as: "ca.pem", in: folder)
        let port = try freePort(), process = Process(), input = Pipe()
        try write(configuration(folder, port: port), as: "nginx.conf", in: folder)
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", #""$0" -c "$1/nginx.conf" -e "$1/error.log" & server=$!; cat > /dev/null; kill $server"#, program,
            folder,
        ]
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { try? input.fileHandleForWriting.close() }
        let url = "https://localhost:\(port)/"
        for _ in 0..<1_000 where !isListening(port) { try await Task.sleep(for: .milliseconds(10)) }
        try #require(isListening(port), "nginx did not start")
        try await body(url, folder)
    }

    private func isListening(_ port: UInt16) -> Bool {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    @Test(.enabled(if: NginxTests.isThere, "there is no nginx"))
    func `nginx verifies the client's certificate, also one that takes the place of another`() async throws {
        try await withServer { url, folder in
            let settings = TLSSettings(
                roots: folder + "/ca.pem", certificate: folder + "/me.pem", key: folder + "/me.key")
            let network = HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)], tls: ["localhost": settings])
            let without = HTTPPipeline(
                [AsyncHTTPClientExecutor(proxies: .none)], tls: ["localhost": TLSSettings(roots: folder + "/ca.pem")])
            #expect(try await without.send(HTTPRequest("GET", url)).status == 400, "nginx says what is missing")
            for (signer, name, isAccepted) in [
                (clients, "ann", true), (CertificateAuthority(name: "Others"), "eve", false), (clients, "bob", true),
            ] {
                let identity = signer.identity(for: [name])
                try write(identity.certificate, as: "me.pem", in: folder)
                try write(identity.key, as: "me.key", in: folder)
                let response = try await network.send(HTTPRequest("GET", url))
                #expect(response.status == (isAccepted ? 200 : 400), "\(name)")
                if isAccepted { #expect(String(decoding: response.body, as: UTF8.self) == "CN=\(name)") }
            }
        }
    }
}
#endif
