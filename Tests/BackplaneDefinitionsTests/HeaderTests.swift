import Backplane
import BackplaneNetwork
import Foundation
import Testing

@testable import BackplaneDefinitions

struct HeaderTests {
    @Test func `text around indicators stays, and several may be in one field`() throws {
        let defined = try DefinedRequest(
            #"{"path": "a", "header": {"X-Range": "from %0 to %1[end]", "X-Share": "100%%"}}"#)
        let request = try defined.made(1, ["end": "9 €"])
        #expect(request.headers["X-Range"] == "from 1 to 9 €")
        #expect(request.headers["X-Share"] == "100%")
    }

    @Test func `the call goes before the definition, and that before shared fields`() throws {
        let defined = try DefinedRequest(
            #"{"path": "a", "header": {"x-b": "definition", "X-C": "definition"}}"#,
            shared: ["X-A": "shared", "X-B": "shared", "X-C": "shared"])
        let request = try defined.made(adding: ["x-c": "call", "X-D": "1", "X-D": "2"])
        #expect(request.headers.values("X-A") == ["shared"])
        #expect(request.headers.values("X-B") == ["definition"])
        #expect(request.headers.values("X-C") == ["call"])
        #expect(request.headers.values("X-D") == ["1", "2"])
    }

    @Test func `a header may be the properties of an argument`() throws {
        let defined = try DefinedRequest(#"{"path": "a", "header": "%0"}"#, shared: ["X-A": "shared"])
        let request = try defined.made(["X-A": "1", "X-B": " b "])
        #expect(request.headers == ["X-A": "1", "X-B": "b"])
        for wrong in [["X A": "1"], ["X": "a\r\nb"], ["Host": "evil.example.org"]] {
            #expect(throws: BackplaneError.self) { try defined.made(wrong) }
        }
    }

    @Test(arguments: [("get", "GET"), ("Post", "POST"), ("patch", "PATCH"), ("m-search", "m-search")])
    func `a method that servers know is sent in upper case`(method: String, sent: String) throws {
        #expect(try DefinedRequest(#"{"path": "a", "method": "\#(method)"}"#).made().method == sent)
    }

    @Test func `every kind of exchange has shared fields, unless they are excluded`() throws {
        for (header, expected) in [
            ("{}", "a"), (#"{"excludeSharedHeader": true}"#, nil), (#"{"excludeSharedHeader": 1}"#, nil),
        ] {
            for type in ["DataTask", "DownloadTask"] {
                let defined = try DefinedRequest(
                    #"{"path": "a", "sessionType": "\#(type)", "header": \#(header)}"#, shared: ["X-A": "a"])
                #expect(try defined.made().headers["X-A"] == expected)
                let prepared = try defined.service.m.prepared([])
                let download = try prepared.endpoint(to: "file").request(prepared.client.defaults)
                #expect(download.headers["X-A"] == expected)
            }
            let upload = try DefinedRequest(
                #"{"path": "a", "sessionType": "UploadTask", "header": \#(header)}"#, as: "m:", shared: ["X-A": "a"])
            #expect(try upload.made(Data("x".utf8)).headers["X-A"] == expected)
        }
    }

    @Test func `a field whose argument is nil is left out`() throws {
        let defined = try DefinedRequest(#"{"path": "a", "header": {"X-A": "id %0", "X-B": "%1"}}"#)
        #expect(try defined.made(nil, true).headers == ["X-B": "true"])
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\u{0}", "\u{7F}", "\u{1B}[0m"])
    func `an argument cannot end a field`(argument: String) throws {
        let defined = try DefinedRequest(#"{"path": "a", "header": {"X-A": "id %0"}}"#)
        #expect { try defined.made(argument) } throws: { error in
            let error = error as? BackplaneError
            return error?.code == .definitionArguments && error?.message.contains("Evil") == false
        }
        #expect(throws: BackplaneError.self) { try defined.made("fine", adding: ["X-B": argument]) }
        #expect(throws: BackplaneError.self) { try defined.made("fine", adding: ["X B": "1"]) }
    }
}
