import CBackplane
import Testing

@testable import BackplaneHost

/// The number of elements that a plugin's answer to a stream has, whatever its bytes are.
struct JSONArrayLengthTests {
    @Test(arguments: [
        ("[]", 0), ("[ ]", 0), ("[1]", 1), ("[ 1 , 2 ]", 2), (#"["a,b", {"c": [1, 2]}, [3, 4]]"#, 3),
        (#"["\",", 2]"#, 2),
    ])
    func `only the elements of the array itself are counted`(json: String, count: Int) {
        let bytes = Array(json.utf8)
        bytes.withUnsafeBufferPointer {
            #expect(JSONArrayLength.of(bp_bytes(data: $0.baseAddress, length: $0.count)) == count)
        }
    }

    @Test func `bytes that a plugin does not have are none`() {
        let bytes = Array("[1, 2]".utf8)
        #expect(JSONArrayLength.of(bp_bytes(data: nil, length: 5)) == 0)
        bytes.withUnsafeBufferPointer {
            #expect(JSONArrayLength.of(bp_bytes(data: $0.baseAddress, length: -1)) == 0)
        }
    }
}
