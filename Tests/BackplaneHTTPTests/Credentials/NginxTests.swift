import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import Foundation
import TestFixtures
import Testing

/// Client certificates against a server that others wrote: nginx, which verifies them.
///
/// They are skipped where there is no nginx or Python. `BACKPLANE_NGINX` names the program; with
/// `BACKPLANE_REQUIRE_PEERS=1` a missing server is a failure.
@Suite(.timeLimit(.minutes(5)))
struct NginxTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let program: String? =
        ([environment["BACKPLANE_NGINX"]].compactMap(\.self)
        + ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx"])
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    /// Whether the server can be started, or has to be.
    private static let isThere =
        program != nil && PeerServer.isThere("python3") || environment["BACKPLANE_REQUIRE_PEERS"] == "1"

    private func write(_ text: String, as name: String, in folder: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"), options: .atomic)
    }

    private static let configuration = """
        daemon off; master_process off; pid FOLDER/nginx.pid; error_log FOLDER/error.log;
        events { worker_connections 64; }
        http {
          access_log off;
          client_body_temp_path FOLDER/body; proxy_temp_path FOLDER/proxy; fastcgi_temp_path FOLDER/fastcgi;
          uwsgi_temp_path FOLDER/uwsgi; scgi_temp_path FOLDER/scgi;
          server {
            listen 127.0.0.1:PORT0 ssl;
            ssl_certificate FOLDER/server.pem; ssl_certificate_key FOLDER/server.key;
            ssl_client_certificate FOLDER/clients.pem; ssl_verify_client on; ssl_session_cache off;
            location / { return 200 "$ssl_client_s_dn"; }
          }
        }
        """

    private func withServer(_ body: (_ url: String, _ folder: String) async throws -> Void) async throws {
        try await PeerServer.withNginx(at: Self.program, configuration: Self.configuration) { folder in
            try write(TestIdentity.server.certificate, as: "server.pem", in: folder)
            try write(TestIdentity.server.key, as: "server.key", in: folder)
            try write(TestIdentity.clients.certificate, as: "clients.pem", in: folder)
        } _: { server in
            try write(TestIdentity.servers.certificate, as: "ca.pem", in: server.folder)
            try await body("https://localhost:\(server.ports[0])/", server.folder)
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
            for (identity, name, isAccepted) in [
                (TestIdentity.ann, "ann", true), (.strangeClient, "eve", false), (.bob, "bob", true),
            ] {
                try write(identity.certificate, as: "me.pem", in: folder)
                try write(identity.key, as: "me.key", in: folder)
                let response = try await network.send(HTTPRequest("GET", url))
                #expect(response.status == (isAccepted ? 200 : 400), "\(name)")
                if isAccepted { #expect(String(decoding: response.body, as: UTF8.self) == "CN=\(name)") }
            }
        }
    }
}
