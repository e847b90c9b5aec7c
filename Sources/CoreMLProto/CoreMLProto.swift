// CoreMLProto
