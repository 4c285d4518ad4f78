import Foundation

/// The value of the rows of endpoints, whose JSON the server sends.
struct BenchLibrary: Decodable, Sendable {
    struct Volume: Decodable, Sendable {
        var number: Int
        var title: String
        var author: String
        var isLent: Bool
    }
    var volumes: [Volume]

    /// Returns the number of volumes in JSON of at least this many bytes.
    static func count(inJSONOf bytes: Int) -> Int {
        (try? JSONDecoder().decode(BenchLibrary.self, from: Data(json(atLeast: bytes))))?.volumes.count ?? 0
    }

    /// Returns JSON of at least this many bytes, exceeding it by less than one volume.
    static func json(atLeast bytes: Int) -> [UInt8] {
        var text = #"{"volumes":["#, number = 0
        while number == 0 || text.utf8.count + 2 < bytes {
            if number > 0 { text += "," }
            text +=
                #"{"number":\#(number),"title":"Volume \#(number)","author":"Jules Verne","isLent":\#(number % 2 == 0)}"#
            number += 1
        }
        return Array((text + "]}").utf8)
    }
}
