import Foundation
import TestFixtures

extension PeerServer {
    // MARK: nginx

    /// Runs nginx on a folder: on the first port with HTTP/1.1, on the second with HTTP/2 and TLS, on the third with
    /// HTTP/1.1 and TLS.
    static func withNginx(_ identity: TestIdentity, _ body: (PeerServer) async throws -> Void) async throws {
        try await withNginx(configuration: configuration) { folder in
            try Data(identity.certificate.utf8).write(to: URL(filePath: folder + "/certificate.pem"))
            try Data(identity.key.utf8).write(to: URL(filePath: folder + "/key.pem"))
        } _: {
            try await body($0)
        }
    }

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
}
